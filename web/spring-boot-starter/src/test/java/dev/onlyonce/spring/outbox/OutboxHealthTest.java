package dev.onlyonce.spring.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.spring.operations.HealthLook;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The health of the outbox")
final class OutboxHealthTest {
    private static final long HOURS_US = Duration.ofHours(5).toSeconds() * 1_000_000;

    @Test
    @DisplayName("T5 S4 shows how long the oldest call has waited by the store's clock, whatever the node's says")
    void oldest() throws Exception {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (SqlStore store = SqlStore.open(source);
                Onlyonce once = Onlyonce.builder(store).build();
                Outbox outbox = Outbox.builder(once).build();
                Connection tx = source.getConnection()) {
            assertThat(new OutboxHealth(outbox).check().details()).containsEntry("oldestSeconds", 0L);
            tx.setAutoCommit(false);
            outbox.accept(
                    tx,
                    Key.of("tenant", "charge", "key"),
                    Fingerprint.of(new byte[1]),
                    Codec.bytes(),
                    new OutboxCall("charge", new byte[0]));
            tx.createStatement()
                    .executeUpdate("UPDATE onlyonce_outbox SET entry_created_at = entry_created_at - " + HOURS_US);
            tx.commit();
            HealthLook.Report health = new OutboxHealth(outbox).check();
            assertThat(health.trouble()).isNull();
            assertThat(health.details())
                    .containsEntry("waiting", 1)
                    .containsEntry("dead", 0)
                    .containsEntry("hung", Map.of());
            assertThat((long) health.details().get("oldestSeconds")).isBetween(18_000L, 18_600L);
        }
    }
}
