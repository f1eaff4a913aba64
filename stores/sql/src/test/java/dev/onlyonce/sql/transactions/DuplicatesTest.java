package dev.onlyonce.sql.transactions;

import static dev.onlyonce.sql.transactions.TransactionsChapter.KEY;
import static dev.onlyonce.sql.transactions.TransactionsChapter.POLICY;
import static dev.onlyonce.sql.transactions.TransactionsChapter.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.Pools;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.Ways;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Order(1)
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
    @EnumSource(TestDatabase.class)
    @DisplayName("D16 F1 K7 a duplicate of a key that this node is executing is answered without a connection")
    void withoutConnection(TestDatabase database) throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        ExecutorService callers = Executors.newFixedThreadPool(DUPLICATES + 1, work -> {
            threads.add(new Thread(work));
            return threads.get(threads.size() - 1);
        });
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger borrowed = new AtomicInteger();
        try (HikariDataSource pool = Pools.open(database.url(folder), CONNECTIONS);
                SqlStore store = SqlStore.open(Sources.of(() -> {
                    borrowed.incrementAndGet();
                    return pool.getConnection();
                }))) {
            Transactions transactions = Ways.transactions(store, POLICY);
            Transactions patient = Ways.transactions(
                    store, POLICY.toBuilder().waitMax(Duration.ofSeconds(60)).build());
            CountDownLatch running = new CountDownLatch(1);
            Future<Outcome<String>> first = callers.submit(() -> transactions.execute(KEY, REQUEST, Codec.text(), c -> {
                running.countDown();
                assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
                return "done";
            }));
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            int before = borrowed.get();
            List<Future<Outcome<String>>> duplicates = new ArrayList<>();
            for (int i = 0; i < DUPLICATES; i++) {
                assertThat(transactions.execute(KEY, REQUEST, Codec.text(), c -> "again"))
                        .isInstanceOf(Outcome.InFlight.class);
                duplicates.add(callers.submit(() -> patient.execute(KEY, REQUEST, Codec.text(), c -> "again")));
            }
            assertThat(patient.execute(KEY, Fingerprint.of(new byte[] {1}), Codec.text(), c -> "another"))
                    .isInstanceOf(Outcome.Mismatched.class);
            for (Thread waiting : threads) {
                while (waiting.getState() != Thread.State.TIMED_WAITING) {
                    LockSupport.parkNanos(1_000_000);
                }
            }
            goOn.countDown();
            assertThat(first.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            for (Future<Outcome<String>> duplicate : duplicates) {
                assertThat(duplicate.get(60, TimeUnit.SECONDS))
                        .isInstanceOfSatisfying(
                                Outcome.Replayed.class,
                                r -> assertThat(r.value()).isEqualTo("done"));
            }
            assertThat(borrowed).as("connections that duplicates took").hasValue(before);
            Key others = Key.of("another tenant", "POST /payments", KEY.value());
            assertThat(transactions.execute(others, REQUEST, Codec.text(), c -> "done"))
                    .isInstanceOf(Outcome.Executed.class);
        } finally {
            goOn.countDown();
            callers.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "H2"})
    @DisplayName("D16 D5 when the running one is rolled back, one of those that wait executes, and the others replay")
    void nextInLine(TestDatabase database) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(DUPLICATES + 1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger executed = new AtomicInteger();
        try (HikariDataSource pool = Pools.open(database.url(folder), CONNECTIONS);
                SqlStore store = SqlStore.open(pool)) {
            Transactions patient = Ways.transactions(
                    store, POLICY.toBuilder().waitMax(Duration.ofSeconds(60)).build());
            CountDownLatch running = new CountDownLatch(1);
            Future<Outcome<String>> first = callers.submit(() -> patient.execute(KEY, REQUEST, Codec.text(), c -> {
                running.countDown();
                assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
                throw new IllegalStateException("no");
            }));
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            List<Future<Outcome<String>>> duplicates = new ArrayList<>();
            for (int i = 0; i < DUPLICATES; i++) {
                duplicates.add(callers.submit(
                        () -> patient.execute(KEY, REQUEST, Codec.text(), c -> "done " + executed.incrementAndGet())));
            }
            goOn.countDown();
            assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS)).hasMessageContaining("no");
            for (Future<Outcome<String>> duplicate : duplicates) {
                assertThat(duplicate.get(60, TimeUnit.SECONDS))
                        .isInstanceOfAny(Outcome.Executed.class, Outcome.Replayed.class);
            }
            assertThat(executed).hasValue(1);
        } finally {
            goOn.countDown();
            callers.shutdownNow();
        }
    }

    @Test
    @DisplayName("D16 D5 the result of a transaction whose commit is refused is given to none of those that wait")
    void refusedAtCommit() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(DUPLICATES + 1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger executed = new AtomicInteger();
        try (HikariDataSource pool = Pools.open(TestDatabase.POSTGRES.url(folder), CONNECTIONS);
                SqlStore store = SqlStore.open(pool)) {
            SqlClock.execute(
                    pool,
                    "CREATE TABLE account (id int PRIMARY KEY)",
                    "CREATE TABLE booking (account int REFERENCES account DEFERRABLE INITIALLY DEFERRED)");
            Transactions patient = Ways.transactions(
                    store, POLICY.toBuilder().waitMax(Duration.ofSeconds(60)).build());
            CountDownLatch running = new CountDownLatch(1);
            Future<Outcome<String>> first = callers.submit(() -> patient.execute(KEY, REQUEST, Codec.text(), c -> {
                try (Statement statement = c.createStatement()) {
                    statement.execute("INSERT INTO booking VALUES (1)");
                }
                running.countDown();
                assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
                return "undone";
            }));
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            List<Future<Outcome<String>>> duplicates = new ArrayList<>();
            for (int i = 0; i < DUPLICATES; i++) {
                duplicates.add(callers.submit(
                        () -> patient.execute(KEY, REQUEST, Codec.text(), c -> "done " + executed.incrementAndGet())));
            }
            goOn.countDown();
            assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
            for (Future<Outcome<String>> duplicate : duplicates) {
                assertThat(duplicate.get(60, TimeUnit.SECONDS).orElseThrow()).isEqualTo("done 1");
            }
            assertThat(executed).hasValue(1);
        } finally {
            goOn.countDown();
            callers.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D16 that a key is in flight elsewhere is remembered for a moment, and no longer")
    void elsewhere(TestDatabase database) throws Exception {
        AtomicInteger borrowed = new AtomicInteger();
        try (HikariDataSource pool = Pools.open(database.url(folder), CONNECTIONS);
                SqlStore otherNode = SqlStore.open(pool);
                SqlStore store = SqlStore.open(Sources.of(() -> {
                    borrowed.incrementAndGet();
                    return pool.getConnection();
                }));
                Connection running = pool.getConnection()) {
            running.setAutoCommit(false);
            Ways.transactions(otherNode, POLICY).execute(running, KEY, REQUEST, Codec.text(), c -> "done");
            Transactions transactions = Ways.transactions(store, POLICY);
            int before = borrowed.get();
            for (int i = 0; i < 1000; i++) {
                assertThat(transactions.execute(KEY, REQUEST, Codec.text(), c -> "again"))
                        .isInstanceOf(Outcome.InFlight.class);
            }
            assertThat(borrowed.get() - before).isLessThan(100);
            running.commit();
            Outcome<String> outcome = transactions.execute(KEY, REQUEST, Codec.text(), c -> "again");
            for (int i = 0; i < 1000 && outcome instanceof Outcome.InFlight; i++) {
                LockSupport.parkNanos(1_000_000);
                outcome = transactions.execute(KEY, REQUEST, Codec.text(), c -> "again");
            }
            assertThat(outcome).isInstanceOf(Outcome.Replayed.class);
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
            // A busy machine makes some of them slow, a wait all of them.
            long fastest = Long.MAX_VALUE;
            for (int i = 0; i < 5; i++) {
                begun = System.nanoTime();
                assertThat(transactions.execute(KEY, REQUEST, Codec.text(), c -> "again"))
                        .isInstanceOf(Outcome.InFlight.class);
                fastest = Math.min(fastest, System.nanoTime() - begun);
            }
            assertThat(Duration.ofNanos(fastest))
                    .as("in a transaction of its own")
                    .isLessThan(Duration.ofMillis(900));
        }
    }

    @ParameterizedTest
    @EnumSource(TestDatabase.class)
    @DisplayName("D16 an action that begins another transaction for its own key does not wait for itself")
    void withinItself(TestDatabase database) throws Exception {
        try (HikariDataSource pool = Pools.open(database.url(folder), CONNECTIONS);
                SqlStore store = SqlStore.open(pool)) {
            Transactions patient = Ways.transactions(
                    store, POLICY.toBuilder().waitMax(Duration.ofSeconds(10)).build());
            Outcome<String> outer = patient.execute(KEY, REQUEST, Codec.text(), c -> {
                try (Connection second = pool.getConnection()) {
                    second.setAutoCommit(false);
                    long begun = System.nanoTime();
                    assertThat(patient.execute(second, KEY, REQUEST, Codec.text(), again -> "again"))
                            .isInstanceOf(Outcome.InFlight.class);
                    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
                    return "done";
                }
            });
            assertThat(outer).isInstanceOf(Outcome.Executed.class);
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
    @DisplayName("D11 on PostgreSQL, somebody who locks the table for a moment is not a running key")
    void shortLocks() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(2);
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(pool);
                Connection own = pool.getConnection();
                Connection foreign = pool.getConnection();
                Statement statement = foreign.createStatement()) {
            Transactions transactions = Ways.transactions(store, POLICY);
            own.setAutoCommit(false);
            foreign.setAutoCommit(false);
            statement.execute("LOCK TABLE onlyonce_entry IN SHARE ROW EXCLUSIVE MODE");
            Future<Outcome<String>> alone =
                    callers.submit(() -> transactions.execute(KEY, REQUEST, Codec.text(), c -> "done"));
            Key another = Key.of("tenant", "POST /payments", "another");
            Future<Outcome<String>> callersOwn =
                    callers.submit(() -> transactions.execute(own, another, REQUEST, Codec.text(), c -> "done"));
            while (!alone.isDone()
                    && !callersOwn.isDone()
                    && SqlClock.number(
                                    pool,
                                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                            + " AND wait_event_type = 'Lock'"
                                            + " AND clock_timestamp() - query_start > interval '100 ms'")
                            < 2) {
                Thread.onSpinWait();
            }
            foreign.rollback();
            assertThat(alone.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            assertThat(callersOwn.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            own.commit();
        } finally {
            callers.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "D22 on PostgreSQL, whoever stops inside of a transaction holds its key no longer than a claim may be held")
    void stopped(boolean inCallers) throws Exception {
        ExecutorService callers = Executors.newSingleThreadExecutor();
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        Policy shortly = POLICY.toBuilder()
                .lease(Duration.ofSeconds(1))
                .heldMax(Duration.ofSeconds(1))
                .build();
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(pool);
                SqlStore anotherNode = SqlStore.open(pool);
                Connection own = pool.getConnection()) {
            Transactions stopping = Ways.transactions(store, shortly);
            own.setAutoCommit(false);
            Future<Outcome<String>> stopped = callers.submit(() -> {
                if (inCallers) {
                    Outcome<String> outcome = stopping.execute(own, KEY, REQUEST, Codec.text(), c -> "late");
                    claimed.countDown();
                    over.await();
                    own.commit();
                    return outcome;
                }
                return stopping.execute(KEY, REQUEST, Codec.text(), c -> {
                    claimed.countDown();
                    over.await();
                    return "late";
                });
            });
            assertThat(claimed.await(60, TimeUnit.SECONDS)).isTrue();
            long begun = System.nanoTime();
            Outcome<String> next = null;
            while (!(next instanceof Outcome.Executed) && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(30)) {
                next = Ways.transactions(anotherNode, POLICY).execute(KEY, REQUEST, Codec.text(), c -> "done");
            }
            assertThat(next).isInstanceOf(Outcome.Executed.class);
            over.countDown();
            assertThatThrownBy(() -> stopped.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        } finally {
            callers.shutdownNow();
        }
    }
}
