package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A session of the application's pool")
final class SessionsTest {
    /** The driver asks the server to prepare a statement when it is executed for the fifth time. */
    private static final int PREPARED_AFTER = 8;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("D11 that has lost its prepared statements takes the settlement all the same")
    void preparedStatementsGone() {
        try (HikariDataSource pool = Pools.open(TestDatabase.POSTGRES.url(folder), 1)) {
            SqlStore store = SqlStore.open(pool);
            settleMany(store);
            ClaimRequest claim = Claims.claim("last");
            store.claim(List.of(claim));
            // As a pooler does it between two transactions: without the driver's knowledge.
            SqlClock.execute(pool, "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$");
            assertThat(store.settle(Claims.complete(List.of(claim))))
                    .singleElement()
                    .isInstanceOf(SettleResult.Settled.class);
        }
    }

    @Test
    @DisplayName("D11 whose prepared statements no longer fit an altered table answers all the same")
    void plansDoNotFit() {
        String url = TestDatabase.POSTGRES.url(folder);
        try (HikariDataSource pool = Pools.open(url, 1);
                HikariDataSource other = Pools.open(url, 1)) {
            SqlStore store = SqlStore.open(pool);
            settleMany(store);
            SqlClock.execute(other, "ALTER TABLE onlyonce_entry ALTER COLUMN operation TYPE varchar(500)");
            assertThat(store.find(List.of(Claims.id("key0"))).get(0)).isPresent();
            SqlClock.execute(other, "ALTER TABLE onlyonce_entry ALTER COLUMN attempt TYPE bigint");
            assertThat(Claims.won(store.claim(Claims.claims("other", 1)))).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("D11 goes back to its pool when an Error hits while it is looked at")
    void errorWhileTaken() {
        try (HikariDataSource pool = Pools.open(TestDatabase.SQLITE.url(folder), 1)) {
            AtomicBoolean broken = new AtomicBoolean();
            SqlStore store = SqlStore.open(Sources.of(() -> {
                Connection connection = pool.getConnection();
                return Sources.proxy(Connection.class, (self, method, arguments) -> {
                    if (method.getName().equals("getAutoCommit") && broken.getAndSet(false)) {
                        throw new OutOfMemoryError("planted");
                    }
                    return Sources.invoke(connection, method, arguments);
                });
            }));
            broken.set(true);
            assertThatThrownBy(() -> store.claim(List.of(Claims.claim("key")))).isInstanceOf(OutOfMemoryError.class);
            assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("D13 that its last user left in a transaction costs nobody a known result")
    void leftInATransaction() {
        Key key = Key.of("acme", "POST /payments", "k");
        try (HikariDataSource pool = TestDatabase.SQLITE.create(folder)) {
            AtomicBoolean left = new AtomicBoolean();
            SqlStore store = SqlStore.open(Sources.of(() -> {
                Connection connection = pool.getConnection();
                if (left.getAndSet(false)) {
                    connection.setAutoCommit(false);
                }
                return connection;
            }));
            try (Onlyonce once =
                    Onlyonce.builder(store).sweepEvery(Duration.ofHours(1)).build()) {
                assertThat(once.execute(key, Fingerprint.of(new byte[] {1}), Codec.text(), claim -> {
                            left.set(true);
                            return "paid";
                        }))
                        .isInstanceOf(Outcome.Executed.class);
                assertThat(once.find(key)).get().extracting(Entry::state).isEqualTo(State.COMPLETED);
            }
        }
    }

    private static void settleMany(SqlStore store) {
        for (int i = 0; i < PREPARED_AFTER; i++) {
            ClaimRequest claim = Claims.claim("key" + i);
            store.claim(List.of(claim));
            store.settle(Claims.complete(List.of(claim)));
            store.find(List.of(claim.id()));
        }
    }

    @ParameterizedTest(name = "{0}, {1} times")
    @CsvSource({"MARIADB, 0", "MARIADB, 1", "MARIADB, 2", "MYSQL, 1", "SQLITE, 0", "SQLITE, 1"})
    @DisplayName("D11 never goes back to the pool with our transaction, after an Error and failed rollbacks too")
    void noOpenTransaction(TestDatabase database, int failedRollbacks) throws SQLException {
        try (HikariDataSource pool = Pools.open(database.url(folder), 1)) {
            try (SqlStore store = SqlStore.open(pool)) {
                store.claim(Claims.claims("key", 1));
            }
            AtomicInteger failures = new AtomicInteger(failedRollbacks);
            SqlStore store = SqlStore.open(Sources.watched(pool, sql -> {
                if (sql.equals("COMMIT")) {
                    throw new StackOverflowError("planted");
                }
                if (sql.equals("ROLLBACK") && failures.getAndDecrement() > 0) {
                    throw new SQLException("planted", "HY000", 10);
                }
            }));
            // With an entry that exists, since MariaDB needs no transaction for fresh keys.
            assertThatThrownBy(() -> store.claim(Claims.claims("key", 2))).isInstanceOf(StackOverflowError.class);
            try (Connection next = pool.getConnection();
                    Statement statement = next.createStatement()) {
                assertThat(statement.executeUpdate("DELETE FROM onlyonce_entry WHERE key_ = 'key1'"))
                        .as("rows of ours that the next user sees")
                        .isZero();
            }
        }
    }
}
