package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An operator of the outbox")
class AdminOutboxTest extends AdminFixture {

    @Test
    @DisplayName(
            "S5 gives a dead letter its tries again, or forgets it, by command line and API, and the audit says who and why")
    void deadLetters() throws Exception {
        List<Long> dead = deadLetters("order-1", "order-2");
        assertThat(run("outbox", "list").out())
                .containsPattern(dead.get(0) + " +default +order-1 +charge +1 +.*no answer")
                .contains("order-2");
        assertThat(run("outbox", "show", dead.get(1).toString()).out()).containsPattern("payload +order-2");
        String first = dead.get(0).toString();
        assertThat(run("outbox", "retry", first).exitCode())
                .as("a reason is needed")
                .isEqualTo(Cli.USAGE);
        assertThat(run("outbox", "retry", first, "--reason", "they are back").exitCode())
                .isZero();
        assertThat(run("outbox", "retry", first, "--reason", "again").exitCode())
                .as("it is dead no more")
                .isEqualTo(Cli.NOT_FOUND);
        assertThat(run("keys", "history", "order-1").out()).contains("to be tried again: they are back");

        HttpRequest.BodyPublisher second = HttpRequest.BodyPublishers.ofString(
                "{\"id\": %d, \"reason\": \"paid by hand\"}".formatted(dead.get(1)));
        assertThat(gateway.send(admin("/v1/outbox/drop").POST(second)).statusCode())
                .isEqualTo(200);
        assertThat(gateway.send(admin("/v1/outbox/drop").POST(second)).statusCode())
                .as("it is gone")
                .isEqualTo(404);
        assertThat(run("keys", "history", "order-2").out()).contains("dropped: paid by hand");
        assertThat(run("outbox", "list", "--json").out()).doesNotContain("order-");
    }

    /** Calls that another program, on the gateway's database, has tried to make once and given up; their numbers. */
    private List<Long> deadLetters(String... keys) throws Exception {
        Path file = gateway.data().resolve("onlyonce.db");
        try (SqlStore store = SqlStore.sqlite(file);
                Onlyonce once = Onlyonce.builder(store).build();
                Outbox outbox = Outbox.builder(once)
                        .triesMax(1)
                        .handler("charge", row -> {
                            throw new IllegalStateException("no answer");
                        })
                        .build();
                Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file + "?busy_timeout=60000")) {
            connection.setAutoCommit(false);
            for (String key : keys) {
                byte[] payload = key.getBytes(StandardCharsets.UTF_8);
                outbox.accept(
                        connection,
                        Key.of("default", "POST /**", key),
                        Fingerprint.of(payload),
                        Codec.bytes(),
                        new OutboxCall("charge", payload));
            }
            connection.commit();
            assertThat(outbox.deliverDue()).isEqualTo(keys.length);
            return outbox.listDead(0, keys.length).stream().map(OutboxRow::id).toList();
        }
    }
}
