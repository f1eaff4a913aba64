package dev.onlyonce.sql.transactions;

import static dev.onlyonce.sql.transactions.TransactionsChapter.KEY;
import static dev.onlyonce.sql.transactions.TransactionsChapter.POLICY;
import static dev.onlyonce.sql.transactions.TransactionsChapter.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.Pools;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.Ways;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Transactions of many callers on a small pool")
final class DuplicatesTest {
    private static final int CONNECTIONS = 5;
    private static final int DUPLICATES = 20;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D16 duplicates that wait for the running one leave the connections to others, and replay in the end")
    void waitWithoutConnection(TestDatabase database) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(DUPLICATES);
        try (HikariDataSource pool = Pools.open(database.url(folder), CONNECTIONS);
                HikariDataSource other = Pools.open(pool.getJdbcUrl(), 1);
                SqlStore store = SqlStore.open(pool);
                Connection running = other.getConnection()) {
            Transactions patient = Ways.transactions(
                    store, POLICY.toBuilder().waitMax(Duration.ofSeconds(60)).build());
            running.setAutoCommit(false);
            Ways.transactions(store, POLICY).execute(running, KEY, REQUEST, Codec.text(), c -> "done");
            List<Future<Outcome<String>>> duplicates = new ArrayList<>();
            for (int i = 0; i < DUPLICATES; i++) {
                duplicates.add(callers.submit(() -> patient.execute(KEY, REQUEST, Codec.text(), c -> "again")));
            }
            for (int i = 0; i < 50; i++) {
                Key key = Key.of("neighbour", "POST /payments", "key-" + i);
                assertThat(patient.execute(key, REQUEST, Codec.text(), c -> "done"))
                        .isInstanceOf(Outcome.Executed.class);
            }
            assertThat(duplicates).as("the neighbour did not wait for them").noneMatch(Future::isDone);
            running.commit();
            for (Future<Outcome<String>> duplicate : duplicates) {
                assertThat(duplicate.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Replayed.class);
            }
        } finally {
            callers.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D16 a duplicate that is not to wait is in flight at once")
    void doesNotWait(TestDatabase database) throws Exception {
        try (HikariDataSource pool = Pools.open(database.url(folder), CONNECTIONS);
                SqlStore store = SqlStore.open(pool);
                Connection running = pool.getConnection();
                Connection second = pool.getConnection()) {
            running.setAutoCommit(false);
            second.setAutoCommit(false);
            Transactions transactions = Ways.transactions(store, POLICY);
            transactions.execute(running, KEY, REQUEST, Codec.text(), c -> "done");
            // In the caller's transaction, MySQL waits for a second.
            boolean waits = database == TestDatabase.MYSQL;
            int duplicates = waits ? 3 : DUPLICATES;
            long begun = System.nanoTime();
            for (int i = 0; i < duplicates; i++) {
                assertThat(transactions.execute(second, KEY, REQUEST, Codec.text(), c -> "again"))
                        .isInstanceOf(Outcome.InFlight.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .isLessThan(Duration.ofSeconds(waits ? duplicates * 2 : duplicates / 2));
            begun = System.nanoTime();
            assertThat(transactions.execute(KEY, REQUEST, Codec.text(), c -> "again"))
                    .isInstanceOf(Outcome.InFlight.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as("in a transaction of its own")
                    .isLessThan(Duration.ofMillis(900));
        }
    }

    @ParameterizedTest
    @EnumSource(TestDatabase.class)
    @DisplayName("D11 different keys at once are all executed: a busy database is not a running key")
    void differentKeys(TestDatabase database) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(16);
        try (HikariDataSource pool = Pools.open(database.url(folder), 16);
                SqlStore store = SqlStore.open(pool)) {
            Transactions transactions = Ways.transactions(store, POLICY);
            List<Future<Outcome<String>>> outcomes = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                Key key = Key.of("tenant", "POST /payments", "key-" + i);
                outcomes.add(callers.submit(() -> transactions.execute(key, REQUEST, Codec.text(), c -> "done")));
            }
            for (Future<Outcome<String>> outcome : outcomes) {
                assertThat(outcome.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            }
        } finally {
            callers.shutdownNow();
        }
    }

    @Test
    @DisplayName("D11 on PostgreSQL, somebody who changes the size of the table for a moment is not a running key")
    void shortLocks() throws Exception {
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(pool)) {
            SqlClock.execute(pool, "CREATE TABLE seen (wait text)");
            SqlClock.execute(pool, """
                    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN INSERT INTO seen VALUES (current_setting(''lock_timeout'')); RETURN NEW; END'""");
            SqlClock.execute(pool, """
                    CREATE TRIGGER see BEFORE INSERT ON onlyonce_entry FOR EACH ROW EXECUTE FUNCTION see()""");
            Ways.transactions(store, POLICY).execute(KEY, REQUEST, Codec.text(), c -> "done");
            assertThat(SqlClock.number(pool, "SELECT count(*) FROM seen WHERE wait = '20ms'"))
                    .isEqualTo(1);
        }
    }
}
