package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.await;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Event;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testkit.ManualTime;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Rows that wait: for a thread, for a call that does not come back, for the database. */
interface OutboxPatienceChapter extends OutboxChapter {

    @Test
    @DisplayName("W2 a row that waits for a thread until its key's lifetime is over is not sent again")
    default void lifetimeOverInTheQueue() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Provider slow = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                if (row.key().equals(key(1))) {
                    called.countDown();
                    await(goOn);
                }
                return super.deliver(row);
            }
        };
        slow.lifetime = Duration.ofMinutes(2);
        slow.answer = Provider.Answer.LOSE_ANSWER;
        try (ManualTime time = new ManualTime();
                Outbox outbox = builder(once -> once.time(time))
                        .handler("charge", slow)
                        .concurrency(1)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            accept(outbox, key(2));
            outbox.deliverDue();
            assertThat(entry(key(2)).state()).isEqualTo(State.UNKNOWN);
            slow.answer = Provider.Answer.CHARGE;
            accept(outbox, key(1));
            outbox.start();
            await(called);
            clock().advance(Duration.ofSeconds(2));
            outbox.wake();
            until(() -> outbox.find(key(2)).orElseThrow().tries() == 2);
            for (int i = 0; i < 15; i++) {
                clock().advance(LEASE.dividedBy(3));
                time.advance(LEASE.dividedBy(3));
            }
            goOn.countDown();
            until(() -> outbox.find(key(1)).isEmpty());
            until(() -> slow.keys.size() > 2
                    || outbox.find(key(2)).map(OutboxRow::dead).orElse(true));
            assertThat(slow.keys).as("one call for each").hasSize(2);
            assertThat(entry(key(2)).state()).isEqualTo(State.UNKNOWN);
        } finally {
            goOn.countDown();
        }
    }

    @Test
    @DisplayName("D12 a call that does not come back holds its entry no longer than heldMax; it ends as unknown")
    default void heldTooLong() throws Exception {
        SlowProvider stuck = new SlowProvider(1);
        try (ManualTime time = new ManualTime();
                Outbox outbox = builder(once -> once.time(time).heldMax(Duration.ofMinutes(5)))
                        .handler("charge", stuck)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            accept(outbox, KEY);
            outbox.start();
            await(stuck.called);
            for (Duration held = Duration.ZERO;
                    held.compareTo(Duration.ofMinutes(4)) < 0;
                    held = held.plus(LEASE.dividedBy(3))) {
                clock().advance(LEASE.dividedBy(3));
                time.advance(LEASE.dividedBy(3));
                store().sweep(10);
            }
            assertThat(entry(KEY).state()).as("before heldMax").isEqualTo(State.PROCESSING);
            for (int i = 0; i < 12; i++) {
                clock().advance(LEASE.dividedBy(3));
                time.advance(LEASE.dividedBy(3));
                store().sweep(10);
            }
            assertThat(entry(KEY).state()).as("after heldMax and the lease").isEqualTo(State.UNKNOWN);
        } finally {
            stuck.goOn.countDown();
        }
    }

    @Test
    @DisplayName("D1 a node that dies leaves no more rows in doubt than it was calling, where nobody could ask again")
    default void takenAhead() throws Exception {
        SlowProvider slow = new SlowProvider(2);
        slow.lifetime = Duration.ZERO;
        try (Outbox outbox = builder().handler("charge", slow).concurrency(2).build()) {
            for (int i = 1; i <= 6; i++) {
                accept(outbox, key(i));
            }
            outbox.start();
            await(slow.called);
            assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE state = 2"))
                    .isEqualTo(2);
            slow.goOn.countDown();
            until(() -> rows() == 0);
        } finally {
            slow.goOn.countDown();
        }
        assertThat(slow.keys).hasSize(6);
    }

    @Test
    @DisplayName("D13 what the provider answered is recorded after an outage that was longer than the lease")
    default void outage() throws Exception {
        AtomicBoolean down = new AtomicBoolean();
        Provider provider = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                down.set(true);
                return super.deliver(row);
            }
        };
        provider.lifetime = Duration.ZERO;
        CountDownLatch failed = new CountDownLatch(1);
        try (SqlStore store = SqlClock.store(Sources.of(() -> {
                            if (down.get()) {
                                throw new SQLException("the database is away", "08001");
                            }
                            return dataSource().getConnection();
                        }))
                        .build();
                ManualTime time = new ManualTime();
                Outbox outbox = Outbox.builder(once(
                                store,
                                once -> once.time(time).listener(event -> {
                                    if (event instanceof Event.StoreFailed) {
                                        failed.countDown();
                                    }
                                })))
                        .handler("charge", provider)
                        .closeWaitMax(Duration.ZERO)
                        .build()) {
            accept(outbox, KEY);
            outbox.start();
            until(down::get);
            for (int i = 0; i < 5; i++) {
                time.untilWaiting(2);
                clock().advance(LEASE.dividedBy(2));
                time.advance(LEASE.dividedBy(2));
            }
            await(failed);
            store().sweep(10);
            assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
            down.set(false);
            for (int i = 0; i < 100 && !entry(KEY).state().isAnswered(); i++) {
                time.untilWaiting(1);
                clock().advance(LEASE);
                time.advance(LEASE);
                var unused = new CountDownLatch(1).await(200, TimeUnit.MILLISECONDS);
            }
            assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
            assertThat(provider.keys).hasSize(1);
        }
    }

    @Test
    @DisplayName("D11 rows for which there is no time to call before the lease ends are given back, not left in doubt")
    default void tooSlowForAll() throws Exception {
        try (ManualTime time = new ManualTime()) {
            Provider slow = new Provider() {
                @Override
                public Delivery deliver(OutboxRow row) {
                    time.advance(LEASE.dividedBy(3));
                    clock().advance(LEASE.dividedBy(3));
                    store().sweep(10);
                    return super.deliver(row);
                }
            };
            slow.lifetime = Duration.ZERO;
            Outbox outbox =
                    builder(once -> once.time(time)).handler("charge", slow).build();
            for (int i = 1; i <= 6; i++) {
                accept(outbox, key(i));
            }
            for (int i = 0; i < 10 && rows() > 0; i++) {
                outbox.deliverDue();
            }
            assertThat(outbox.listDead(0, 10)).isEmpty();
            assertThat(rows()).isZero();
            assertThat(slow.keys).hasSize(6);
            outbox.close();
        }
    }

    @Test
    @DisplayName("D11 a failure between claiming and calling leaves nothing in doubt: nobody was called")
    default void failsBeforeTheCall() throws Exception {
        provider().lifetime = Duration.ZERO;
        AtomicBoolean down = new AtomicBoolean();
        try (SqlStore store = SqlClock.store(Sources.of(() -> {
                    if (down.getAndSet(false)) {
                        throw new SQLException("the database is away", "08001");
                    }
                    return dataSource().getConnection();
                }))
                .build()) {
            Outbox outbox = Outbox.builder(once(
                            store,
                            once -> once.listener(event -> {
                                if (event instanceof Event.Took) {
                                    // After the claim, before what is left to write.
                                    down.compareAndSet(false, provider().keys.isEmpty());
                                }
                            })))
                    .handler("charge", provider())
                    .build();
            accept(outbox, key(1));
            SqlClock.execute(dataSource(), "UPDATE onlyonce_outbox SET first_sent_at = 1");
            assertThatThrownBy(outbox::deliverDue).isInstanceOf(StoreException.class);
            assertThat(provider().keys).isEmpty();
            provider().keys.add("from now on the database is there");
            clock().advance(LEASE.plusSeconds(1));
            outbox.deliverDue();
            store().sweep(10);
            assertThat(entry(key(1)).state()).isNotEqualTo(State.UNKNOWN);
            clock().advance(LEASE.plusSeconds(1));
            outbox.deliverDue();
            assertThat(entry(key(1)).state()).isEqualTo(State.COMPLETED);
            outbox.close();
        }
    }
}
