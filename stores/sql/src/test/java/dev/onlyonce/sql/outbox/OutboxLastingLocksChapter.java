package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.await;
import static dev.onlyonce.sql.outbox.OutboxChapter.call;
import static dev.onlyonce.sql.outbox.OutboxChapter.insertPayment;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Messages whose entries somebody else has locked, on databases that lock rows. */
interface OutboxLastingLocksChapter extends OutboxChapter {
    private void send(Outbox outbox, int number) throws SQLException {
        try (Connection tx = begin()) {
            outbox.accept(tx, key(number), REQUEST, Codec.bytes(), call("990").untilTaken());
            insertPayment(tx, key(number));
            tx.commit();
        }
    }

    private void lockEntry(Connection connection, int number) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT * FROM onlyonce_entry WHERE"
                    + TestDatabase.key(store().access().database().kind(), "tenant", "key-" + number) + "FOR UPDATE");
        }
    }

    @Test
    @DisplayName("D11 a locked entry does not keep other claims that were not confirmed from being released")
    default void lockedUnconfirmed() throws Exception {
        AtomicBoolean down = new AtomicBoolean();
        AtomicBoolean once = new AtomicBoolean(true);
        try (SqlStore store = SqlClock.store(Sources.of(() -> {
                    if (down.getAndSet(false)) {
                        throw new SQLException("the database is away", "08001");
                    }
                    return dataSource().getConnection();
                }))
                .build()) {
            Outbox outbox = Outbox.builder(once(
                            store,
                            node -> node.listener(event -> {
                                if (event instanceof Event.Took && once.getAndSet(false)) {
                                    down.set(true);
                                }
                            })))
                    .handler("charge", provider())
                    .build();
            for (int i = 1; i <= 3; i++) {
                send(outbox, i);
            }
            SqlClock.execute(dataSource(), "UPDATE onlyonce_outbox SET first_sent_at = 1");
            assertThatThrownBy(outbox::deliverDue).isInstanceOf(StoreException.class);
            try (Connection other = begin()) {
                lockEntry(other, 1);
                outbox.deliverDue();
                assertThat(entry(key(2)).state()).isEqualTo(State.RETRYABLE);
                assertThat(entry(key(3)).state()).isEqualTo(State.RETRYABLE);
                other.rollback();
            }
            outbox.deliverDue();
            assertThat(entry(KEY).state()).isEqualTo(State.RETRYABLE);
            outbox.close();
        }
    }

    @Test
    @DisplayName("D11 messages with locked entries do not keep a closing worker for a second each")
    default void lockedWhileClosing() throws Exception {
        closeAround(20, Duration.ofSeconds(14));
    }

    /** Closes a worker while somebody else has locked the entries of all messages except the first and the last; at least one of these waits. */
    default void closeAround(int messages, Duration max) throws Exception {
        SlowProvider slow = new SlowProvider(1);
        Outbox outbox = builder().handler("charge", slow).concurrency(1).build();
        for (int i = 1; i <= messages; i++) {
            send(outbox, i);
        }
        outbox.start();
        await(slow.called);
        OutboxChapter.until(
                () -> SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE state = 2") == messages);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection other = begin()) {
            for (int i = 2; i < messages; i++) {
                lockEntry(other, i);
            }
            long begun = System.nanoTime();
            Future<?> closing = thread.submit(outbox::close);
            OutboxChapter.until(
                    () -> SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE state = 5") > 0);
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as("until the free one is given back")
                    .isLessThan(max);
            other.rollback();
            slow.goOn.countDown();
            closing.get(60, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
    }
}
