package dev.onlyonce.sql.transactions;

import static dev.onlyonce.sql.transactions.TransactionsChapter.effect;
import static dev.onlyonce.sql.transactions.TransactionsChapter.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions with one key at the same time, in every isolation. */
interface TransactionsRaceChapter extends TransactionsChapter {

    @Test
    @DisplayName(
            "C6 a duplicate of a running transaction is in flight within the bound, and its own transaction goes on")
    default void doesNotPoison() throws Exception {
        try (Connection first = begin();
                Connection second = begin()) {
            String wait = text(second, lockWait());
            transactions().execute(first, KEY, REQUEST, Codec.text(), effect(1));
            long begun = System.nanoTime();
            if (locksRows()) {
                Outcome<String> outcome = transactions().execute(second, KEY, REQUEST, Codec.text(), effect(2));
                assertThat(outcome).isInstanceOf(Outcome.InFlight.class);
            } else {
                assertThatThrownBy(() -> transactions().execute(second, KEY, REQUEST, Codec.text(), effect(2)))
                        .as("a busy database is not a running key")
                        .isInstanceOf(StoreUnavailable.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
            assertThat(text(second, lockWait())).as("settings are as they were").isEqualTo(wait);
            first.commit();
            insert(second, 100);
            Outcome<String> later = transactions().execute(second, KEY, REQUEST, Codec.text(), effect(3));
            assertThat(later).isInstanceOf(Outcome.Replayed.class);
            second.commit();
        }
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("C3 a duplicate waits for the running one within its bound and replays its result")
    default void waits() throws Exception {
        Transactions patient = Ways.transactions(
                store(), POLICY.toBuilder().waitMax(Duration.ofSeconds(60)).build());
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Connection first = begin();
                Connection second = begin()) {
            transactions().execute(first, KEY, REQUEST, Codec.text(), effect(1));
            CountDownLatch started = new CountDownLatch(1);
            Future<Outcome<String>> duplicate = executor.submit(() -> {
                started.countDown();
                return patient.execute(second, KEY, REQUEST, Codec.text(), effect(2));
            });
            started.await();
            first.commit();
            Outcome<String> outcome = duplicate.get(60, TimeUnit.SECONDS);
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class, r -> assertThat(r.value()).isEqualTo("done 1"));
            second.commit();
        } finally {
            executor.shutdownNow();
        }
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 of 64 simultaneous transactions with one key exactly one takes effect")
    default void racers() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(64);
        AtomicInteger executed = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        List<Future<Outcome<String>>> racers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            int number = i;
            racers.add(executor.submit(() -> {
                go.await();
                Outcome<String> outcome = insist(effect(number));
                if (outcome instanceof Outcome.Executed) {
                    executed.incrementAndGet();
                }
                return outcome;
            }));
        }
        go.countDown();
        for (Future<Outcome<String>> racer : racers) {
            assertThat(racer.get(120, TimeUnit.SECONDS))
                    .isInstanceOfAny(Outcome.Executed.class, Outcome.Replayed.class);
        }
        executor.shutdownNow();
        assertThat(executed).hasValue(1);
        assertThat(effects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @DisplayName("C1 under strict isolation, what was committed after the snapshot is never executed again")
    default void staleSnapshot(int isolation) throws Exception {
        executedAfterSnapshot(isolation);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @DisplayName("C1 under strict isolation, a retryable entry that was taken after the snapshot is not taken again")
    default void staleRetryable(int isolation) throws Exception {
        release();
        executedAfterSnapshot(isolation);
    }

    /** Executes while another transaction has its snapshot, which then may not execute too. */
    private void executedAfterSnapshot(int isolation) throws SQLException {
        try (Connection stale = beginIn(isolation)) {
            text(stale, "SELECT count(*) FROM onlyonce_schema");
            assertThat(transactions().execute(KEY, REQUEST, Codec.text(), effect(1)))
                    .isInstanceOf(Outcome.Executed.class);
            Outcome<String> outcome = null;
            try {
                outcome = transactions().execute(stale, KEY, REQUEST, Codec.text(), effect(2));
                stale.commit();
            } catch (TransactionConflict e) {
                stale.rollback();
            }
            assertThat(outcome instanceof Outcome.Executed).isFalse();
        }
        assertThat(insist(effect(3))).isInstanceOf(Outcome.Replayed.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 D5 a transaction that reads uncommitted rows is not answered by one that is rolled back later")
    default void readsUncommitted() throws Exception {
        if (!locksRows()) {
            return; // A second transaction does not begin.
        }
        try (Connection first = begin();
                Connection dirty = beginIn(Connection.TRANSACTION_READ_UNCOMMITTED)) {
            transactions().execute(first, KEY, REQUEST, Codec.text(), effect(1));
            Outcome<String> outcome = null;
            try {
                outcome = transactions().execute(dirty, KEY, REQUEST, Codec.text(), effect(2));
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageContaining("READ COMMITTED");
            }
            assertThat(outcome == null || outcome instanceof Outcome.InFlight)
                    .as("no answer")
                    .isTrue();
            dirty.rollback();
            first.rollback();
        }
        assertThat(insist(effect(3))).isInstanceOf(Outcome.Executed.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 serializable transactions that race are told to run again, and one takes effect")
    default void serializableRacers() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(8);
        List<Future<?>> racers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int number = i;
            racers.add(executor.submit(() -> {
                while (!serializable(number)) {
                    Thread.onSpinWait();
                }
                return null;
            }));
        }
        for (Future<?> racer : racers) {
            racer.get(120, TimeUnit.SECONDS);
        }
        executor.shutdownNow();
        assertThat(effects()).isEqualTo(1);
    }

    /** Returns whether the key has its answer. */
    private boolean serializable(int number) throws SQLException {
        try (Connection tx = beginIn(Connection.TRANSACTION_SERIALIZABLE)) {
            try {
                Outcome<String> outcome = transactions().execute(tx, KEY, REQUEST, Codec.text(), effect(number));
                tx.commit();
                return !(outcome instanceof Outcome.InFlight);
            } catch (TransactionConflict e) {
                tx.rollback();
                return false;
            } catch (SQLException e) {
                tx.rollback();
                if (SqlFailure.of(store().access().database().kind(), e) == SqlFailure.CONFLICT) {
                    return false;
                }
                throw e;
            }
        }
    }

    private Connection beginIn(int isolation) throws SQLException {
        Connection connection = open();
        if (connection.getMetaData().supportsTransactionIsolationLevel(isolation)) {
            connection.setTransactionIsolation(isolation);
        }
        connection.setAutoCommit(false);
        return connection;
    }

    private static String text(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
