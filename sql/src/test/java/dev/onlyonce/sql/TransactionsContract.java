package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Failure;
import dev.onlyonce.Fingerprint;
import dev.onlyonce.Key;
import dev.onlyonce.OnLeaseLost;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.State;
import dev.onlyonce.internal.NodeName;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transactional way, the same on every database. */
abstract class TransactionsContract {
    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    private static final Key KEY = Key.of("tenant", "POST /payments", "key-1");
    private static final Policy POLICY = Policy.standard();

    private SqlStore store;
    private SqlTransactions transactions;

    /** A pool on a database of the test's own. */
    abstract DataSource dataSource();

    /** A query for how long the session waits for locks, which must stay as it was. */
    abstract String lockWait();

    @BeforeEach
    final void create() {
        store = SqlStore.open(dataSource());
        transactions = store.transactions(POLICY);
        SqlClock.execute(
                dataSource(),
                "DELETE FROM onlyonce_entry",
                "DELETE FROM onlyonce_audit",
                "DROP TABLE IF EXISTS effect",
                "CREATE TABLE effect (id INTEGER NOT NULL)");
    }

    @AfterEach
    final void close() {
        store.close();
    }

    @Test
    @DisplayName("W1 claim, effect and result commit together, and a repeat is answered from the record")
    void commitsTogether() throws Exception {
        try (Connection tx = begin()) {
            Outcome<String> outcome = transactions.execute(tx, KEY, REQUEST, Codec.text(), effect(1));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Executed.class, e -> assertThat(e.value()).isEqualTo("done 1"));
            assertThat(effects()).isZero();
            tx.commit();
        }
        assertThat(effects()).isEqualTo(1);
        try (Connection tx = begin()) {
            Outcome<String> outcome = transactions.execute(tx, KEY, REQUEST, Codec.text(), effect(2));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class, r -> assertThat(r.value()).isEqualTo("done 1"));
            tx.commit();
        }
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("The store, and so the leased way, sees what a transaction has recorded")
    void seenByTheStore() throws Exception {
        Outcome<String> outcome = transactions.execute(KEY, REQUEST, Codec.text(), effect(1));
        Instant expires = ((Outcome.Executed<String>) outcome).expiresAt();
        assertThat(store.find(List.of(KEY.entryId())).get(0)).hasValueSatisfying(entry -> {
            assertThat(entry.state()).isEqualTo(State.COMPLETED);
            assertThat(entry.attempt()).isEqualTo(1);
            assertThat(entry.expiresAt()).isEqualTo(expires);
            assertThat(entry.retentionLeft()).isBetween(Duration.ofHours(23), Duration.ofHours(24));
        });
    }

    @Test
    @DisplayName("S2 the audit is in the caller's transaction: committed with it, and rolled back with it")
    void audited() throws Exception {
        try (Connection tx = begin()) {
            transactions.execute(tx, KEY, REQUEST, Codec.text(), effect(1));
            tx.rollback();
        }
        assertThat(Claims.history(store, KEY)).isEmpty();
        try (Connection tx = begin()) {
            assertThatThrownBy(() -> transactions.execute(tx, KEY, REQUEST, Codec.text(), c -> {
                        throw new IllegalStateException("declined");
                    }))
                    .isInstanceOf(IllegalStateException.class);
            tx.commit();
        }
        assertThat(Claims.history(store, KEY)).isEmpty();
        transactions.execute(KEY, REQUEST, Codec.text(), effect(2));
        transactions.execute(KEY, REQUEST, Codec.text(), effect(3));
        String me = NodeName.ofThisProcess();
        assertThat(Claims.history(store, KEY))
                .containsExactly(
                        "1 null>PROCESSING " + me + ": claimed",
                        "1 PROCESSING>COMPLETED " + me + ": completed in a transaction");
    }

    @Test
    @DisplayName("D5 a caller that rolls back leaves nothing, and the next request executes")
    void rollBack() throws Exception {
        try (Connection tx = begin()) {
            transactions.execute(tx, KEY, REQUEST, Codec.text(), effect(1));
            tx.rollback();
        }
        assertThat(effects()).isZero();
        assertThat(store.find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThat(transactions.execute(KEY, REQUEST, Codec.text(), effect(2))).isInstanceOf(Outcome.Executed.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("D1 a process that dies between effect and commit leaves nothing, and the next request executes")
    void crash() throws Exception {
        Connection tx = open();
        tx.setAutoCommit(false);
        transactions.execute(tx, KEY, REQUEST, Codec.text(), effect(1));
        kill(tx);
        Outcome<String> outcome = insist(REQUEST, effect(2));
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Executed.class, e -> assertThat(e.value()).isEqualTo("done 2"));
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("D5 a failed action's exception passes by identity, its effect is undone, and the transaction goes on")
    void failedAction() throws Exception {
        Exception mine = new Exception("declined");
        try (Connection tx = begin()) {
            insert(tx, 100);
            assertThatThrownBy(() -> transactions.execute(tx, KEY, REQUEST, Codec.text(), c -> {
                        insert(c, 1);
                        throw mine;
                    }))
                    .isSameAs(mine);
            insert(tx, 101);
            tx.commit();
        }
        assertThat(effects()).as("only what the caller did itself").isEqualTo(2);
        assertThat(store.find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThatThrownBy(() -> transactions.execute(KEY, REQUEST, Codec.text(), c -> {
                    insert(c, 1);
                    throw mine;
                }))
                .isSameAs(mine);
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("An action whose statement fails does not poison the caller's transaction either")
    void failedStatement() throws Exception {
        try (Connection tx = begin()) {
            insert(tx, 100);
            assertThatThrownBy(() -> transactions.execute(tx, KEY, REQUEST, Codec.text(), c -> {
                        try (Statement statement = c.createStatement()) {
                            statement.execute("INSERT INTO no_such_table VALUES (1)");
                        }
                        return "never";
                    }))
                    .isInstanceOf(SQLException.class);
            insert(tx, 101);
            tx.commit();
        }
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    @DisplayName(
            "C6 a duplicate of a running transaction is in flight within the bound, and its own transaction goes on")
    void doesNotPoison() throws Exception {
        try (Connection first = begin();
                Connection second = begin()) {
            String wait = text(second, lockWait());
            transactions.execute(first, KEY, REQUEST, Codec.text(), effect(1));
            long begun = System.nanoTime();
            Outcome<String> outcome = transactions.execute(second, KEY, REQUEST, Codec.text(), effect(2));
            assertThat(outcome).isInstanceOf(Outcome.InFlight.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
            assertThat(text(second, lockWait())).as("settings are as they were").isEqualTo(wait);
            first.commit();
            insert(second, 100);
            Outcome<String> later = transactions.execute(second, KEY, REQUEST, Codec.text(), effect(3));
            assertThat(later).isInstanceOf(Outcome.Replayed.class);
            second.commit();
        }
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("C3 a duplicate waits for the running one within its bound and replays its result")
    void waits() throws Exception {
        SqlTransactions patient = store.transactions(
                POLICY.toBuilder().waitMax(Duration.ofSeconds(60)).build());
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Connection first = begin();
                Connection second = begin()) {
            transactions.execute(first, KEY, REQUEST, Codec.text(), effect(1));
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
    void racers() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(64);
        AtomicInteger executed = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        List<Future<Outcome<String>>> racers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            int number = i;
            racers.add(executor.submit(() -> {
                go.await();
                Outcome<String> outcome = insist(REQUEST, effect(number));
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
    void staleSnapshot(int isolation) throws Exception {
        try (Connection stale = beginStrict(isolation)) {
            text(stale, "SELECT count(*) FROM onlyonce_schema");
            transactions.execute(KEY, REQUEST, Codec.text(), effect(1));
            Outcome<String> outcome = null;
            try {
                outcome = transactions.execute(stale, KEY, REQUEST, Codec.text(), effect(2));
                stale.commit();
            } catch (TransactionConflict e) {
                stale.rollback();
            }
            assertThat(outcome instanceof Outcome.Executed).isFalse();
        }
        assertThat(insist(REQUEST, effect(3))).isInstanceOf(Outcome.Replayed.class);
        assertThat(effects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @DisplayName("C1 under strict isolation, a retryable entry that was taken after the snapshot is not taken again")
    void staleRetryable(int isolation) throws Exception {
        release(REQUEST);
        try (Connection stale = beginStrict(isolation)) {
            text(stale, "SELECT count(*) FROM onlyonce_schema");
            assertThat(transactions.execute(KEY, REQUEST, Codec.text(), effect(1)))
                    .isInstanceOf(Outcome.Executed.class);
            Outcome<String> outcome = null;
            try {
                outcome = transactions.execute(stale, KEY, REQUEST, Codec.text(), effect(2));
                stale.commit();
            } catch (TransactionConflict e) {
                stale.rollback();
            }
            assertThat(outcome instanceof Outcome.Executed).isFalse();
        }
        assertThat(insist(REQUEST, effect(3))).isInstanceOf(Outcome.Replayed.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 serializable transactions that race are told to run again, and one takes effect")
    void serializableRacers() throws Exception {
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
        try (Connection tx = beginStrict(Connection.TRANSACTION_SERIALIZABLE)) {
            try {
                Outcome<String> outcome = transactions.execute(tx, KEY, REQUEST, Codec.text(), effect(number));
                tx.commit();
                return !(outcome instanceof Outcome.InFlight);
            } catch (TransactionConflict e) {
                tx.rollback();
                return false;
            } catch (SQLException e) {
                tx.rollback();
                if (SqlFailure.of(store.schema().status().database(), e) == SqlFailure.CONFLICT) {
                    return false;
                }
                throw e;
            }
        }
    }

    @Test
    @DisplayName("F1 another request, operation or a live claim is refused, and nothing runs")
    void refusals() throws Exception {
        Fingerprint other = Fingerprint.of("other".getBytes(StandardCharsets.UTF_8));
        transactions.execute(KEY, REQUEST, Codec.text(), effect(1));
        assertThat(transactions.execute(KEY, other, Codec.text(), effect(2)))
                .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST));
        Key otherOperation = Key.of("tenant", "POST /refunds", "key-1");
        assertThat(transactions.execute(otherOperation, REQUEST, Codec.text(), effect(2)))
                .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.OPERATION));
        Key live = Key.of("tenant", "POST /payments", "live");
        store.claim(List.of(claim(live, REQUEST)));
        assertThat(transactions.execute(live, REQUEST, Codec.text(), effect(2))).isInstanceOf(Outcome.InFlight.class);
        assertThat(transactions.execute(live, other, Codec.text(), effect(2))).isInstanceOf(Outcome.Mismatched.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("A retryable entry is taken with its next attempt")
    void takesRetryable() throws Exception {
        release(REQUEST);
        assertThat(transactions.execute(KEY, REQUEST, Codec.text(), effect(1))).isInstanceOf(Outcome.Executed.class);
        assertThat(store.find(List.of(KEY.entryId())).get(0))
                .hasValueSatisfying(entry -> assertThat(entry.attempt()).isEqualTo(2));
    }

    @Test
    @DisplayName("R5 a result over the limit is delivered, and its repeat is told so and never executes")
    void largeResult() throws Exception {
        SqlTransactions small =
                store.transactions(POLICY.toBuilder().resultBytesMax(3).build());
        assertThat(small.execute(KEY, REQUEST, Codec.text(), effect(1))).isInstanceOf(Outcome.Executed.class);
        assertThat(small.execute(KEY, REQUEST, Codec.text(), effect(2)))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        f -> assertThat(f.failure().code()).isEqualTo(Failure.RESULT_NOT_STORED));
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("C5 a commit whose acknowledgement is lost is found to have happened")
    void lostAcknowledgement() throws Exception {
        SqlStore faulty = SqlStore.open(new LostCommits(dataSource(), true));
        Outcome<String> outcome = faulty.transactions(POLICY).execute(KEY, REQUEST, Codec.text(), effect(1));
        assertThat(outcome).isInstanceOf(Outcome.Executed.class);
        assertThat(effects()).isEqualTo(1);
        assertThat(transactions.execute(KEY, REQUEST, Codec.text(), effect(2))).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    @DisplayName("D5 a connection lost before the commit is found to have changed nothing")
    void lostCommit() throws Exception {
        SqlStore faulty = SqlStore.open(new LostCommits(dataSource(), false));
        assertThatThrownBy(() -> faulty.transactions(POLICY).execute(KEY, REQUEST, Codec.text(), effect(1)))
                .isInstanceOf(StoreUnavailable.class);
        assertThat(effects()).isZero();
        assertThat(insist(REQUEST, effect(2))).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("A connection without a transaction is refused")
    void autoCommit() throws Exception {
        try (Connection connection = open()) {
            assertThatThrownBy(() -> transactions.execute(connection, KEY, REQUEST, Codec.text(), effect(1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(effects()).isZero();
    }

    private Outcome<String> insist(Fingerprint request, TransactionalAction<String, SQLException> action)
            throws SQLException {
        SqlTransactions patient = store.transactions(
                POLICY.toBuilder().waitMax(Duration.ofSeconds(5)).build());
        while (true) {
            try {
                Outcome<String> outcome = patient.execute(KEY, request, Codec.text(), action);
                if (!(outcome instanceof Outcome.InFlight)) {
                    return outcome;
                }
            } catch (TransactionConflict e) {
                Thread.onSpinWait();
            }
        }
    }

    private void release(Fingerprint request) {
        ClaimRequest claim = claim(KEY, request);
        store.claim(List.of(claim));
        store.settle(List.of(new Settlement(claim.id(), claim.token(), State.RETRYABLE, null, "released")));
    }

    private static ClaimRequest claim(Key key, Fingerprint request) {
        EntryId id = key.entryId();
        Terms terms = new Terms(Duration.ofSeconds(30), OnLeaseLost.UNKNOWN, Duration.ofHours(1), Duration.ZERO);
        return new ClaimRequest(id, key.operation(), request, UUID.randomUUID(), "node", terms, State.PROCESSING);
    }

    private static TransactionalAction<String, SQLException> effect(int number) {
        return connection -> {
            insert(connection, number);
            return "done " + number;
        };
    }

    private static void insert(Connection connection, int number) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO effect (id) VALUES (" + number + ")");
        }
    }

    private long effects() {
        return SqlClock.number(dataSource(), "SELECT count(*) FROM effect");
    }

    private static String text(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    private Connection open() throws SQLException {
        return dataSource().getConnection();
    }

    private Connection begin() throws SQLException {
        Connection connection = open();
        connection.setAutoCommit(false);
        return connection;
    }

    private Connection beginStrict(int isolation) throws SQLException {
        Connection connection = open();
        if (connection.getMetaData().supportsTransactionIsolationLevel(isolation)) {
            connection.setTransactionIsolation(isolation);
        }
        connection.setAutoCommit(false);
        return connection;
    }

    /** Ends the connection as a crash would, without a commit. */
    private static void kill(Connection connection) throws SQLException {
        connection.abort(Runnable::run);
        try {
            connection.close();
        } catch (SQLException e) {
            assertThat(connection.isClosed()).isTrue();
        }
    }
}
