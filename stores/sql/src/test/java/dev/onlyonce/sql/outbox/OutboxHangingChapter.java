package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.await;
import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static dev.onlyonce.sql.outbox.OutboxChapter.insertPayment;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.store.State;
import dev.onlyonce.testkit.ManualTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A provider that does not answer, and payloads that do not fit into memory, cost other topics nothing. */
interface OutboxHangingChapter extends OutboxChapter {
    Duration HELD_MAX = Duration.ofMinutes(5);

    /** Does not come back before the test is over, whoever interrupts it. */
    final class Deaf extends Provider {
        final CountDownLatch goOn = new CountDownLatch(1);
        final AtomicInteger under = new AtomicInteger();
        final Set<Key> deaf = ConcurrentHashMap.newKeySet();

        @Override
        public Delivery deliver(OutboxRow row) {
            under.incrementAndGet();
            boolean interrupted = false;
            while (deaf.contains(row.key()) && goOn.getCount() > 0) {
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return super.deliver(row);
        }
    }

    private void accept(Outbox outbox, Key key, OutboxCall call) throws SQLException {
        try (Connection tx = begin()) {
            outbox.accept(tx, key, REQUEST, Codec.bytes(), call);
            insertPayment(tx, key);
            tx.commit();
        }
    }

    /** Time goes on for the node and the store, heartbeat by heartbeat. */
    private void pass(ManualTime time, Duration span) {
        for (Duration passed = Duration.ZERO; passed.compareTo(span) < 0; passed = passed.plus(LEASE.dividedBy(3))) {
            clock().advance(LEASE.dividedBy(3));
            time.advance(LEASE.dividedBy(3));
            store().sweep(100);
        }
    }

    @Test
    @DisplayName("W8 a topic whose provider does not answer leaves the others their threads and their rows")
    default void otherTopics() throws Exception {
        Deaf deaf = new Deaf();
        Outbox outbox = builder()
                .handler("silent", deaf)
                .concurrency(4)
                .rowsMax(20)
                .closeWaitMax(Duration.ZERO)
                .build();
        for (int i = 1; i <= 50; i++) {
            deaf.deaf.add(key(i));
            accept(outbox, key(i), new OutboxCall("silent", bytes("x")));
        }
        outbox.start();
        try {
            until(() -> deaf.under.get() == 3);
            for (int i = 51; i <= 70; i++) {
                accept(outbox, key(i), new OutboxCall("charge", bytes("x")));
            }
            for (int i = 51; i <= 70; i++) {
                assertThat(outbox.await(key(i), REQUEST, Codec.bytes(), Duration.ofSeconds(20)))
                        .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
            }
            assertThat(deaf.under).as("its calls at once").hasValue(3);
            assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_outbox WHERE token IS NOT NULL"))
                    .as("rows of the silent topic in hand")
                    .isEqualTo(15);
        } finally {
            deaf.goOn.countDown();
            outbox.close();
        }
    }

    @Test
    @DisplayName("W8 D21 a listener that blocks holds up no call and no result")
    default void blockingListener() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        Listener blocks = event -> {
            if (Thread.currentThread().getName().startsWith("onlyonce-")) {
                try {
                    assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        Outbox outbox = builder(once -> once.listener(blocks)).build();
        outbox.start();
        try {
            for (int i = 1; i <= 3; i++) {
                accept(outbox, key(i));
                assertThat(outbox.await(key(i), REQUEST, Codec.bytes(), Duration.ofSeconds(20)))
                        .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
            }
        } finally {
            goOn.countDown();
            outbox.close();
        }
    }

    @Test
    @DisplayName("W8 D12 a call that ignores its interrupt is reported; another thread makes the topic's next calls")
    default void replaced() throws Exception {
        Deaf deaf = new Deaf();
        deaf.deaf.add(key(1));
        try (ManualTime time = new ManualTime();
                Outbox outbox = builder(once -> once.time(time).heldMax(HELD_MAX))
                        .handler("charge", deaf)
                        .concurrency(1)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            deaf.lifetime = Duration.ZERO;
            accept(outbox, key(1));
            outbox.start();
            until(() -> deaf.under.get() == 1);
            accept(outbox, key(2));
            assertThat(outbox.hung()).isEmpty();
            pass(time, HELD_MAX.plus(LEASE.multipliedBy(2)));
            assertThat(outbox.hung()).isEqualTo(Map.of("charge", 1));
            until(() -> {
                outbox.wake();
                return entry(key(2)).state() == State.COMPLETED;
            });
            until(() -> events().stream()
                    .anyMatch(e -> e instanceof Event.Delivery d
                            && d.fate() == Event.Delivery.Fate.HUNG
                            && d.id().equals(key(1).entryId())));
            assertThat(entry(key(1)).state()).isEqualTo(State.UNKNOWN);
            deaf.goOn.countDown();
            until(() -> outbox.hung().isEmpty());
        } finally {
            deaf.goOn.countDown();
        }
    }

    @Test
    @DisplayName("W8 D4 a call that was interrupted after heldMax is in doubt, also if it says that it did nothing")
    default void interrupted() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Provider hanging = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                called.countDown();
                try {
                    assertThat(never.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new NotExecuted("interrupted");
                }
                return super.deliver(row);
            }
        };
        hanging.lifetime = Duration.ZERO;
        try (ManualTime time = new ManualTime();
                Outbox outbox = builder(once -> once.time(time).heldMax(HELD_MAX))
                        .handler("charge", hanging)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            accept(outbox, KEY);
            outbox.start();
            await(called);
            pass(time, HELD_MAX.minus(LEASE));
            assertThat(entry(KEY).state()).isEqualTo(State.PROCESSING);
            time.advance(LEASE.multipliedBy(2));
            until(() -> entry(KEY).state() == State.UNKNOWN);
            assertThat(outbox.find(KEY).orElseThrow().lastError()).contains("heldMax");
            until(() -> outbox.hung().isEmpty());
        } finally {
            never.countDown();
        }
    }

    @Test
    @DisplayName("W8 a node has no more payloads in memory than it has room for, one of each topic at least")
    default void bytesInHand() throws Exception {
        Deaf deaf = new Deaf();
        Outbox outbox = builder()
                .handler("charge", deaf)
                .concurrency(20)
                .bytesMax(100_000)
                .closeWaitMax(Duration.ZERO)
                .build();
        for (int i = 1; i <= 12; i++) {
            deaf.deaf.add(key(i));
            accept(outbox, key(i), new OutboxCall("charge", new byte[i == 12 ? 300_000 : 30_000]));
        }
        outbox.start();
        try {
            until(() -> deaf.under.get() == 3);
            outbox.wake();
            assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_outbox WHERE token IS NOT NULL"))
                    .isEqualTo(3);
            deaf.goOn.countDown();
            for (int i = 1; i <= 12; i++) {
                assertThat(outbox.await(key(i), REQUEST, Codec.bytes(), Duration.ofSeconds(20)))
                        .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
            }
        } finally {
            deaf.goOn.countDown();
            outbox.close();
        }
    }
}
