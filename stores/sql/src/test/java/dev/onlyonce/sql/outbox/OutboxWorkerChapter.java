package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.await;
import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Workers that die, are late, work next to each other, or shut down. */
interface OutboxWorkerChapter extends OutboxChapter {

    @ParameterizedTest(name = "{0}, at most {1} tries")
    @CsvSource({"CHARGE, 4", "UNREACHABLE, 1", "UNREACHABLE, 4"})
    @DisplayName("D2 a worker whose row was taken by another one changes nothing: no answer, no end, no later try")
    default void rowTaken(Provider.Answer answer, int triesMax) throws Exception {
        Provider slow = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                SqlClock.execute(dataSource(), "UPDATE onlyonce_outbox SET token = NULL");
                return super.deliver(row);
            }
        };
        slow.answer = answer;
        Outbox outbox = builder().handler("charge", slow).triesMax(triesMax).build();
        accept(outbox, KEY);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.PROCESSING);
        assertThat(payment(KEY)).isEqualTo("accepted");
        assertThat(rows()).isEqualTo(1);
        assertThat(events()).anyMatch(Event.ClaimLost.class::isInstance);
    }

    @Test
    @DisplayName("D2 a worker that was away for longer than its lease records nothing")
    default void fenced() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        DeliveryHandler slow = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                called.countDown();
                await(goOn);
                return new Delivery.Delivered("late", bytes("late"));
            }
        };
        Outbox late = builder().handler("charge", slow).build();
        accept(late, KEY);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> delivering = thread.submit(late::deliverDue);
            await(called);
            clock().advance(LEASE.plusSeconds(1));
            assertThat(store().sweep(100)).hasSize(1);
            assertThat(outbox().deliverDue()).isEqualTo(1);
            goOn.countDown();
            delivering.get(60, TimeUnit.SECONDS);
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
        assertThat(replayed(accept(late, KEY))).isEqualTo("charged");
        assertThat(events()).anyMatch(e -> e instanceof Event.ClaimLost);
    }

    @ParameterizedTest
    @EnumSource(
            value = Provider.Answer.class,
            names = {"DIE_BEFORE", "DIE_AFTER", "DIE_RECORDING"})
    @DisplayName(
            "D1 W3 a worker that dies before the call, after it, or while recording: one charge, and nothing stuck")
    default void dies(Provider.Answer when) throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        Future<?> dead = die(outbox, when);
        assertThat(entry(KEY).state()).isEqualTo(State.PROCESSING);
        provider().answer = Provider.Answer.CHARGE;
        int calls = provider().keys.size();

        assertThat(outbox.deliverDue()).as("its lease holds").isZero();
        clock().advance(LEASE.plusSeconds(1));
        store().sweep(100);
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        assertThat(outbox.deliverDue()).isEqualTo(1);

        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(provider().charges).hasSize(1);
        assertThat(Set.copyOf(provider().keys)).hasSize(1);
        boolean recorded = when == Provider.Answer.DIE_RECORDING;
        assertThat(provider().keys)
                .as("a recorded answer is not asked for again")
                .hasSize(recorded ? calls : calls + 1);
        assertThat(rows()).isZero();
        dead.cancel(true);
    }

    @Test
    @DisplayName("A row that is due before the sweep has seen its dead worker waits for it")
    default void beforeTheSweep() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        Future<?> dead = die(outbox, Provider.Answer.DIE_AFTER);
        provider().answer = Provider.Answer.CHARGE;
        clock().advance(LEASE.plusSeconds(1));
        outbox.deliverDue();
        assertThat(provider().keys).hasSize(1);
        store().sweep(100);
        clock().advance(Duration.ofSeconds(1));
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(provider().charges).hasSize(1);
        dead.cancel(true);
    }

    @Test
    @DisplayName(
            "Two nodes in the background, one with a stuck call: each row is called once, and the stuck one holds up nobody")
    default void twoNodes() throws Exception {
        int rows = 200;
        CountDownLatch goOn = new CountDownLatch(1);
        Map<String, Integer> calls = new ConcurrentHashMap<>();
        Provider handler = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                calls.merge(row.key().value(), 1, Integer::sum);
                if (row.key().equals(KEY)) {
                    await(goOn);
                }
                return new Delivery.Delivered(null, bytes("charged"));
            }
        };
        Outbox one =
                builder().handler("charge", handler).concurrency(4).rowsMax(20).build();
        Outbox two =
                builder().handler("charge", handler).concurrency(4).rowsMax(20).build();
        for (int i = 1; i <= rows; i++) {
            accept(one, key(i));
        }
        one.start();
        two.start();
        try {
            for (int i = 2; i <= rows; i++) {
                assertThat(one.await(key(i), REQUEST, Codec.bytes(), Duration.ofSeconds(60)))
                        .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
            }
            assertThat(one.await(KEY, REQUEST, Codec.bytes(), Duration.ofMillis(50)))
                    .contains(new Outcome.InFlight<>(true, Duration.ofSeconds(1)));
            goOn.countDown();
            assertThat(two.await(KEY, REQUEST, Codec.bytes(), Duration.ofSeconds(60)))
                    .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
        } finally {
            goOn.countDown();
            one.close();
            two.close();
        }
        assertThat(calls)
                .hasSize(rows)
                .allSatisfy((key, count) -> assertThat(count).isEqualTo(1));
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName(
            "Shutting down finishes what was called and gives back the rest: nothing is lost, and nothing has to wait")
    default void shutDown() throws Exception {
        SlowProvider slow = new SlowProvider(1);
        Outbox outbox = builder().handler("charge", slow).concurrency(1).build();
        for (int i = 1; i <= 5; i++) {
            accept(outbox, key(i));
        }
        outbox.start();
        await(slow.called);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> closing = thread.submit(outbox::close);
            slow.goOn.countDown();
            closing.get(60, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
        assertThat(SqlClock.number(
                        dataSource(),
                        "SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0 AND state IN (2, 6)"))
                .isZero();
        outbox().deliverDue();
        for (int i = 1; i <= 5; i++) {
            assertThat(entry(key(i)).state()).isEqualTo(State.COMPLETED);
        }
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("D11 rows that are being taken while the outbox closes are given back, however short its patience")
    default void closedWhileTaking() throws Exception {
        CountDownLatch taking = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicReference<Thread> taker = new AtomicReference<>();
        Outbox outbox = Outbox.builder(once(
                        SqlClock.store(Sources.of(() -> {
                                    if (Thread.currentThread().getName().equals("onlyonce-outbox-take")) {
                                        taker.set(Thread.currentThread());
                                        taking.countDown();
                                        await(goOn);
                                    }
                                    return dataSource().getConnection();
                                }))
                                .build(),
                        settings -> {}))
                .handler("charge", provider())
                .closeWaitMax(Duration.ZERO)
                .build();
        accept(outbox, KEY);
        outbox.start();
        await(taking);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> closing = thread.submit(outbox::close);
            assertThatThrownBy(() -> closing.get(100, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            goOn.countDown();
            closing.get(60, TimeUnit.SECONDS);
            taker.get().join(Duration.ofSeconds(60).toMillis());
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
        assertThat(provider().keys).isEmpty();
        assertThat(outbox().deliverDue()).as("nobody holds it").isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
    }
}
