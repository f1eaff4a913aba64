package dev.onlyonce.sql;

import static dev.onlyonce.sql.OutboxChapter.await;
import static dev.onlyonce.sql.OutboxChapter.key;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.State;
import dev.onlyonce.testkit.ManualTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Rows that somebody else has locked, on databases that lock rows. */
interface OutboxLocksChapter extends OutboxChapter {
    /** By its unique key: MySQL locks every row that it looks at. */
    String LOCK_FIRST =
            "SELECT * FROM onlyonce_outbox WHERE tenant = 'tenant' AND space = '' AND key_ = 'key-1' FOR UPDATE";

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
        CountDownLatch called = new CountDownLatch(2);
        CountDownLatch goOn = new CountDownLatch(1);
        Provider slow = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                called.countDown();
                await(goOn);
                return super.deliver(row);
            }
        };
        try (ManualTime time = new ManualTime();
                Outbox outbox = builder()
                        .handler("charge", slow)
                        .time(time)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            accept(outbox, key(1));
            accept(outbox, key(2));
            outbox.start();
            await(called);
            try (Connection other = begin()) {
                lock(other, LOCK_FIRST);
                clock().advance(LEASE.dividedBy(2));
                time.advance(LEASE.dividedBy(2));
                assertThat(
                                SqlClock.number(
                                        dataSource(),
                                        "SELECT due_at - micros FROM onlyonce_outbox, onlyonce_test_clock WHERE key_ = 'key-2'"))
                        .as("microseconds left")
                        .isEqualTo(StoredEntry.micros(LEASE));
                other.rollback();
            }
            goOn.countDown();
        }
    }

    private static void lock(Connection connection, String select) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(select);
        }
    }
}
