package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxDelivery;
import dev.onlyonce.sql.inbox.InboxMessage;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.sql.transactions.TransactionsChapter;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.testservers.PostgresPair;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A commit that waits for the standby becomes visible without it when its wait is cancelled, its session is ended or the server restarts. A
 * failover undoes it then.
 */
@Order(1)
@DisplayName("PostgreSQL, a primary that waits for its standby")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SynchronousStandbyTest {
    private static final String WAITERS = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private PostgresPair pair;
    private HikariDataSource pool;
    private SqlStore store;
    private Onlyonce once;
    private Inbox inbox;
    private boolean isCut;

    @BeforeAll
    void start() {
        pair = PostgresPair.start();
        // The driver gives up soon what waits for the standby, and leaves the session behind.
        pool = Pools.open(pair.primary().jdbcUrl("postgres") + "&socketTimeout=2", 8);
        store = SqlStore.open(pool);
        once = Onlyonce.builder(store).build();
        inbox = Inbox.of(once);
        SqlClock.execute(pool, "CREATE TABLE effect (id int)");
    }

    @AfterAll
    void stop() {
        once.close();
        pool.close();
        pair.close();
    }

    private void cutOff() {
        isCut = true;
        pair.cutOff();
    }

    private void rejoin() {
        isCut = false;
        pair.rejoin();
    }

    @AfterEach
    void rejoinAfterFailure() {
        if (isCut) {
            rejoin();
        }
    }

    @FunctionalInterface
    private interface Body {
        void run() throws Exception;
    }

    /** Does something to every session that waits for the standby, for as long as this runs. */
    private void interfering(String how, Body body) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            while (!over.get()) {
                waiters(how);
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        });
        thread.start();
        try {
            body.run();
        } finally {
            over.set(true);
            thread.join();
        }
    }

    /** Runs a function for every session that waits for the standby. */
    private void waiters(String function) {
        try (Connection connection = DriverManager.getConnection(pair.primary().jdbcUrl("postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT " + function + "(pid) " + WAITERS);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends the sessions that wait: what they have committed becomes visible. */
    private void show(EntryId id, State state) {
        while (!store.find(List.of(id)).get(0).map(e -> e.state() == state).orElse(false)) {
            waiters("pg_terminate_backend");
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static void isUnknown(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(StoreOutcomeUnknown.class);
    }

    @Test
    @Order(0)
    @DisplayName("E2 what leads to a standby, or to servers that take no writes, is refused")
    void opening() {
        String primary = pair.primary().jdbcUrl("postgres");
        isRefused(pair.standby().jdbcUrl("postgres"), "targetServerType=primary");
        isRefused(primary + "&targetServerType=preferSecondary", "targetServerType=preferSecondary");
        isRefused(primary + "&options=-c%20default_transaction_read_only=on", "default_transaction_read_only");
        isRefused(primary + "&options=-c%20synchronous_commit=local", "synchronous_commit=local");
    }

    private static void isRefused(String url, String why) {
        try (HikariDataSource source = Pools.open(url, 2)) {
            assertThatThrownBy(() -> SqlStore.open(source))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining(why);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "local"})
    @Order(5)
    @DisplayName("D17 commits wait for the standby, whatever their session has got since the store was opened")
    void sessions(String synchronousCommit) throws SQLException {
        List<ClaimRequest> held = Claims.claims("held-" + synchronousCommit, 1);
        store.claim(held);
        SqlClock.execute(pool, "ALTER DATABASE postgres SET synchronous_commit = " + synchronousCommit);
        pool.getHikariPoolMXBean().softEvictConnections();
        cutOff();
        isUnknown(() -> store.claim(List.of(Claims.claim("alone-" + synchronousCommit))));
        isUnknown(() -> store.claim(Claims.claims("together-" + synchronousCommit, 2)));
        isUnknown(() -> store.settle(Claims.complete(held)));
        isUnknown(() -> execute("executed-" + synchronousCommit));
        isUnknown(() -> inbox.applyAll(
                List.of(new InboxDelivery(new InboxMessage("provider", "evt-" + synchronousCommit), null, c -> {}))));
        rejoin();
        SqlClock.execute(pool, "ALTER DATABASE postgres RESET synchronous_commit");
        pool.getHikariPoolMXBean().softEvictConnections();
    }

    @Test
    @Order(1)
    @DisplayName("D17 a repeated settlement does not count as recorded before the standby has it")
    void settlement() {
        List<ClaimRequest> claims = List.of(Claims.claim("settled"));
        store.claim(claims);
        cutOff();
        isUnknown(() -> store.settle(Claims.complete(claims)));
        show(claims.get(0).id(), State.COMPLETED);
        isUnknown(() -> store.settle(Claims.complete(claims)));
        rejoin();
        assertThat(store.settle(Claims.complete(claims))).allMatch(SettleResult.Settled.class::isInstance);
    }

    @Test
    @Order(2)
    @DisplayName(
            "D17 a repeated claim does not hold before the standby has it, though a lost session has locked its row")
    void claim() {
        List<ClaimRequest> claims = List.of(Claims.claim("claimed"));
        cutOff();
        isUnknown(() -> store.claim(claims));
        show(claims.get(0).id(), State.PROCESSING);
        isUnknown(() -> store.claim(claims));
        isUnknown(() -> store.claim(claims));
        rejoin();
        assertThat(store.claim(claims)).containsExactly(new ClaimResult.Claimed(1));
    }

    @Test
    @Order(3)
    @DisplayName("D17 a transaction whose commit was lost does not count as executed before the standby has it")
    void transaction() throws Exception {
        cutOff();
        interfering("pg_terminate_backend", () -> isUnknown(() -> execute("looked-up")));
        rejoin();
    }

    private Outcome<String> execute(String key) throws SQLException {
        return Ways.transactions(store)
                .execute(
                        Key.of("tenant", "POST /payments", key),
                        TransactionsChapter.REQUEST,
                        Codec.text(),
                        TransactionsChapter.effect(1));
    }

    @Test
    @Order(4)
    @DisplayName("D17 a message that comes again is not acknowledged before the standby has its effect")
    void message() throws SQLException {
        InboxMessage message = new InboxMessage("provider", "evt_1");
        List<InboxDelivery> batch = List.of(new InboxDelivery(message, null, c -> TransactionsChapter.insert(c, 1)));
        EntryId id = new EntryId("provider", Inbox.OPERATION, "evt_1");
        cutOff();
        isUnknown(() -> inbox.applyAll(batch));
        show(id, State.COMPLETED);
        isUnknown(() -> inbox.applyAll(batch));
        isUnknown(() -> inbox.apply(message, c -> {}));
        rejoin();
        assertThat(inbox.applyAll(batch)).containsExactly(new Applied.Before());
        assertThat(inbox.apply(message, c -> {})).isFalse();
    }

    @Test
    @Order(6)
    @DisplayName(
            "D17 a commit whose wait for the standby is cancelled is in doubt, and none of them is gone after a failover if it is not")
    void cancelled() throws Exception {
        List<ClaimRequest> held = Claims.claims("held-", 2);
        store.claim(held);
        EntryId early = new EntryId("tenant", "", "early");
        execute("early");
        cutOff();
        List<Optional<EntryId>> acknowledged = new ArrayList<>();
        interfering("pg_cancel_backend", () -> {
            ClaimRequest alone = Claims.claim("alone");
            isUnknown(() -> store.claim(List.of(alone)));
            isUnknown(() -> store.claim(List.of(alone)));
            isUnknown(() -> store.claim(Claims.claims("together-", 3)));
            isUnknown(() -> store.settle(Claims.complete(held.subList(0, 1))));
            isUnknown(() -> store.settle(Claims.complete(held)));
            isUnknown(() -> store.checkWritable());
            isUnknown(() -> execute("cancelled"));
            isUnknown(this::executeInCallers);
            isUnknown(() -> inbox.apply(new InboxMessage("provider", "evt_2"), c -> {}));
            isUnknown(() ->
                    inbox.applyAll(List.of(new InboxDelivery(new InboxMessage("provider", "evt_3"), null, c -> {}))));
            for (int i = 0; i < 20; i++) {
                acknowledged.add(acknowledged("storm-" + i));
            }
        });
        pool.close();
        isCut = false;
        pair.failOver();
        try (HikariDataSource after = Pools.open(pair.standby().jdbcUrl("postgres"), 2);
                SqlStore promoted = SqlStore.open(after)) {
            assertThat(promoted.find(List.of(early)).get(0)).isPresent();
            assertThat(promoted.find(
                            acknowledged.stream().flatMap(Optional::stream).toList()))
                    .allMatch(Optional::isPresent);
        }
    }

    private void executeInCallers() throws SQLException {
        try (Connection own = pool.getConnection()) {
            own.setAutoCommit(false);
            Ways.transactions(store)
                    .execute(
                            own,
                            Key.of("tenant", "POST /payments", "callers"),
                            TransactionsChapter.REQUEST,
                            Codec.text(),
                            TransactionsChapter.effect(1));
            own.commit();
            Transactions.checkCommitted(own);
        }
    }

    private Optional<EntryId> acknowledged(String key) {
        try {
            ClaimRequest claim = Claims.claim(key);
            return store.claim(List.of(claim)).get(0) instanceof ClaimResult.Claimed
                    ? Optional.of(claim.id())
                    : Optional.empty();
        } catch (StoreException e) {
            return Optional.empty();
        }
    }
}
