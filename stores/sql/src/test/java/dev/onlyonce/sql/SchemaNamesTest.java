package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.EntryQuery;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Tables in a schema of PostgreSQL")
final class SchemaNamesTest {
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    @TempDir
    private Path folder;

    private volatile String path = "public";

    private DataSource onPath(DataSource pool) {
        return Sources.of(() -> {
            Connection connection = pool.getConnection();
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET search_path = " + path);
            }
            return connection;
        });
    }

    private static Key key(String operation) {
        return Key.of("tenant", operation, "key-of-" + operation);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "Upper", "with.dot", "with \"quotes\"", "$1 \\ ? ;", "onlyonce_entry", "select"})
    @DisplayName("E2 are found whatever its name is and wherever it stands in the search_path, in every way to execute")
    void everyWay(String name) throws Exception {
        String quoted = '"' + name.replace("\"", "\"\"") + '"';
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder)) {
            SqlClock.execute(pool, "CREATE SCHEMA first", "CREATE SCHEMA " + quoted);
            DataSource dataSource = onPath(pool);
            path = quoted;
            SqlStore.open(dataSource).close();
            path = "first, " + quoted + ", public";
            try (SqlStore store = SqlStore.open(dataSource);
                    Onlyonce once = Onlyonce.builder(store)
                            .sweepEvery(Duration.ofDays(1))
                            .build();
                    Outbox outbox = Outbox.builder(once)
                            .handler("topic", row -> new Delivery.Delivered("id", new byte[0]))
                            .build();
                    Connection tx = pool.getConnection()) {
                path = "public";
                once.execute(key("leased"), REQUEST, Codec.text(), claim -> "done");
                Transactions.of(once).execute(key("transactional"), REQUEST, Codec.text(), c -> "done");
                assertThatThrownBy(() -> Steps.of(once).execute(key("stepped"), REQUEST, Codec.text(), steps -> {
                            steps.effect("one", Codec.text(), k -> "done");
                            throw new NotExecuted("not yet");
                        }))
                        .isInstanceOf(NotExecuted.class)
                        .hasNoSuppressedExceptions();
                Outcome<String> resumed = Steps.of(once)
                        .execute(
                                key("stepped"),
                                REQUEST,
                                Codec.text(),
                                steps -> steps.effect("one", Codec.text(), k -> "again"));
                assertThat(resumed.orElseThrow()).isEqualTo("done");
                tx.setAutoCommit(false);
                outbox.accept(tx, key("queued"), REQUEST, Codec.text(), new OutboxCall("topic", new byte[0]));
                tx.commit();
                assertThat(outbox.backlog(10).waiting()).isEqualTo(1);
                assertThat(outbox.deliverDue()).isEqualTo(1);
                assertThat(outbox.find(key("queued"))).isEmpty();
                assertThat(Inbox.of(once).apply(new InboxMessage("source", "id"), c -> {}))
                        .isTrue();
                assertThat(once.operator().list(EntryQuery.all(10))).hasSize(5);
                assertThat(once.operator().audit(AuditQuery.all(100))).isNotEmpty();
                assertThat(once.operator().evict(key("leased"), "operator", "a test"))
                        .isTrue();
                once.operator().sweep();
                once.operator().purge();
                store.checkWritable();
                assertThat(once.operator().countStored(10)).isEqualTo(4);
                assertThat(SqlClock.number(
                                pool,
                                "SELECT count(*) FROM " + quoted + ".onlyonce_entry WHERE fingerprint_version > 0"))
                        .isEqualTo(4);
            }
        }
    }
}
