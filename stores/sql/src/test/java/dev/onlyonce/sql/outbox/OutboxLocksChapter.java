package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.await;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.testkit.ManualTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Rows that somebody else has locked, on databases that lock rows. */
interface OutboxLocksChapter extends OutboxChapter {
    /** By its unique key: MySQL locks every row that it looks at. */
    private String locking(String key) {
        return "SELECT * FROM onlyonce_outbox WHERE"
                + TestDatabase.key(store().access().database().kind(), "tenant", key) + "FOR UPDATE";
    }

    @Test
    @DisplayName("D11 a locked business row holds up only its own row; it is finished later, without another call")
    default void lockedBusinessRow() throws Exception {
        Outbox outbox = outbox();
        for (int i = 1; i <= 3; i++) {
            accept(outbox, key(i));
        }
        try (Connection other = begin()) {
            lock(other, "SELECT * FROM payment WHERE id = 'key-2' FOR UPDATE");
            assertThat(outbox.deliverDue()).isEqualTo(3);
            assertThat(entry(key(1)).state()).isEqualTo(State.COMPLETED);
            assertThat(entry(key(2)).state()).isEqualTo(State.UNKNOWN);
            assertThat(entry(key(3)).state()).isEqualTo(State.COMPLETED);
            other.rollback();
        }
        clock().advance(Duration.ofSeconds(2));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(key(2)).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(key(2))).isEqualTo("paid");
        assertThat(provider().keys).hasSize(3);
    }

    @Test
    @DisplayName("D11 a row of the outbox that somebody has locked costs its neighbours no lease")
    default void lockedRow() throws Exception {
        SlowProvider slow = new SlowProvider(2);
        try (ManualTime time = new ManualTime();
                Outbox outbox = builder(once -> once.time(time))
                        .handler("charge", slow)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            accept(outbox, key(1));
            accept(outbox, key(2));
            outbox.start();
            await(slow.called);
            try (Connection other = begin()) {
                lock(other, locking("key-1"));
                clock().advance(LEASE.dividedBy(2));
                time.advance(LEASE.dividedBy(2));
                assertThat(SqlClock.number(
                                dataSource(),
                                "SELECT due_at - micros FROM onlyonce_outbox, onlyonce_test_clock WHERE key_ = "
                                        + TestDatabase.name(
                                                store().access().database().kind(), "key-2")))
                        .as("microseconds left")
                        .isEqualTo(StoredEntry.micros(LEASE));
                other.rollback();
            }
            slow.goOn.countDown();
        }
    }

    @Test
    @DisplayName("D11 a waiting row that somebody has locked does not keep another line from going on")
    default void lockedLine() throws Exception {
        Outbox outbox = outbox();
        OutboxOrderChapter ordered = (OutboxOrderChapter) this;
        for (int i = 1; i <= 4; i++) {
            ordered.acceptInOrder(outbox, key(i), i % 2 == 0 ? "even" : "odd");
        }
        provider().answer = Provider.Answer.UNREACHABLE;
        assertThat(outbox.deliverDue()).isEqualTo(2);
        clock().advance(Duration.ofSeconds(2));
        provider().answer = Provider.Answer.CHARGE;
        try (Connection other = begin()) {
            lock(other, locking("key-3"));
            assertThat(outbox.deliverDue()).isEqualTo(2);
            assertThat(outbox.deliverDue()).isEqualTo(1);
            assertThat(entry(key(4)).state()).isEqualTo(State.COMPLETED);
            other.rollback();
        }
        clock().advance(LEASE);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(key(3)).state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName(
            "Rows of transactions that run at the same time have no order: nobody waits for a commit that may never come")
    default void atTheSameTime() throws Exception {
        OutboxOrderChapter.Recording provider = new OutboxOrderChapter.Recording();
        Outbox outbox = builder().handler("charge", provider).build();
        OutboxOrderChapter ordered = (OutboxOrderChapter) this;
        try (Connection first = begin()) {
            outbox.accept(
                    first,
                    key(1),
                    REQUEST,
                    Codec.bytes(),
                    OutboxChapter.call("990").inOrder("a"));
            OutboxChapter.insertPayment(first, key(1));
            ordered.acceptInOrder(outbox, key(2), "a");
            assertThat(outbox.deliverDue()).isEqualTo(1);
            first.commit();
        }
        ordered.acceptInOrder(outbox, key(3), "a");
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider.called).containsExactly("key-2", "key-1", "key-3");
    }

    @Test
    @DisplayName("D11 rows of the outbox that somebody has locked cost their neighbours no delivery")
    default void lockedRows() throws Exception {
        Outbox outbox = outbox();
        for (int i = 1; i <= 4; i++) {
            accept(outbox, key(i));
        }
        List<Connection> others = new ArrayList<>();
        Provider locked = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                try {
                    if (others.size() < 2) {
                        others.add(begin());
                        lock(others.get(others.size() - 1), locking(row.key().value()));
                    }
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
                return super.deliver(row);
            }
        };
        assertThatThrownBy(() -> builder().handler("charge", locked).build().deliverDue())
                .isInstanceOf(StoreBusy.class);
        others.forEach(OutboxLocksChapter::unlock);
        assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE state = 3"))
                .as("completed")
                .isEqualTo(2);
    }

    @Test
    @DisplayName("D11 many locked business rows do not hold up a free one for a second each")
    default void manyLockedBusinessRows() throws Exception {
        deliverAround(30, Duration.ofSeconds(20));
    }

    /** Delivers rows, all but the last of which need a business row that somebody else has locked. */
    default void deliverAround(int rows, Duration max) throws SQLException {
        Outbox outbox = outbox();
        for (int i = 1; i <= rows; i++) {
            accept(outbox, key(i));
        }
        try (Connection other = begin()) {
            // One by one: MySQL and MariaDB would also lock the row that a scan passes over.
            for (int i = 1; i < rows; i++) {
                lock(other, "SELECT * FROM payment WHERE id = 'key-" + i + "' FOR UPDATE");
            }
            long begun = System.nanoTime();
            assertThat(outbox.deliverDue()).isEqualTo(rows);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(max);
            assertThat(entry(key(rows)).state()).as("the free row").isEqualTo(State.COMPLETED);
            other.rollback();
        }
        assertThat(provider().keys).hasSize(rows);
    }

    @Test
    @DisplayName("D4 D6 a lost answer stays unknown although its row is locked while that is recorded: no second call")
    default void lockedInDoubt() throws Exception {
        Provider charging = losing();
        charging.lifetime = Duration.ZERO;
        Outbox outbox = builder().handler("charge", charging).build();
        accept(outbox, KEY);
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        clock().advance(Duration.ofMinutes(2));
        outbox.deliverDue();
        assertThat(charging.keys).hasSize(1);
        assertThat(outbox.listDead(0, 10)).hasSize(1);
    }

    @Test
    @DisplayName("W2 a locked row does not make the provider's key younger than it is")
    default void lockedAsking() throws Exception {
        Provider charging = losing();
        charging.lifetime = Duration.ofMinutes(10);
        Outbox outbox = builder().handler("charge", charging).build();
        accept(outbox, KEY);
        for (int i = 0; i < 2; i++) {
            outbox.deliverDue();
            clock().advance(Duration.ofMinutes(5));
        }
        outbox.deliverDue();
        assertThat(charging.keys).as("calls in the first ten minutes").hasSize(2);
    }

    /** Loses its answers, and somebody locks the row for longer than its end waits, and not much longer. */
    private Provider losing() {
        Executor later = CompletableFuture.delayedExecutor(1500, TimeUnit.MILLISECONDS);
        Provider losing = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                try {
                    Connection other = begin();
                    lock(other, locking("key-1"));
                    later.execute(() -> unlock(other));
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
                return super.deliver(row);
            }
        };
        losing.answer = Provider.Answer.LOSE_ANSWER;
        return losing;
    }

    private static void unlock(Connection connection) {
        try (connection) {
            connection.rollback();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void lock(Connection connection, String select) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(select);
        }
    }
}
