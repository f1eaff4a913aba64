package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static dev.onlyonce.sql.outbox.OutboxChapter.call;
import static dev.onlyonce.sql.outbox.OutboxChapter.insertPayment;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Rows with one order key are delivered one after the other. */
interface OutboxOrderChapter extends OutboxChapter {

    /** Remembers in which order it was called. */
    class Recording extends Provider {
        final List<String> called = new CopyOnWriteArrayList<>();

        @Override
        public Delivery deliver(OutboxRow row) {
            called.add(row.key().value());
            return super.deliver(row);
        }

        /** What was called since the last time. */
        List<String> drain() {
            List<String> all = List.copyOf(called);
            called.clear();
            return all;
        }
    }

    /** Accepts a key in an order. On MariaDB it may meet a worker's lock on the gap before its key; then nothing was accepted. */
    default void acceptInOrder(Outbox outbox, Key key, String orderKey) throws SQLException {
        OutboxCall call = call("990").inOrder(orderKey);
        boolean accepted = false;
        for (int tries = 0; !accepted && tries < 100; tries++) {
            try (Connection tx = begin()) {
                accepted = outbox.accept(tx, key, REQUEST, Codec.bytes(), call).isNew();
                if (accepted) {
                    insertPayment(tx, key);
                }
                tx.commit();
            }
        }
        assertThat(accepted).as("%s is accepted", key).isTrue();
    }

    private Outbox.Builder recording(Recording provider) {
        return builder().handler("charge", provider);
    }

    /** How many rows a worker would look at now. */
    private long dueRows() {
        return SqlClock.number(
                dataSource(), "SELECT count(*) FROM onlyonce_outbox, onlyonce_test_clock WHERE due_at <= micros");
    }

    @Test
    @DisplayName("W1 calls with one order key are made one after the other, as accepted; others are not kept waiting")
    default void inOrder() throws Exception {
        Recording provider = new Recording();
        Outbox outbox = recording(provider).build();
        for (int i = 1; i <= 3; i++) {
            acceptInOrder(outbox, key(i), "a");
        }
        acceptInOrder(outbox, key(4), "b");
        accept(outbox, key(5));
        assertThat(outbox.deliverDue()).isEqualTo(3);
        assertThat(provider.drain()).containsExactlyInAnyOrder("key-1", "key-4", "key-5");
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider.drain()).containsExactly("key-2", "key-3");
        assertThat(outbox.deliverDue()).isZero();
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("D11 the order is that of one tenant and one topic: nobody else waits")
    default void ofTheirOwn() throws Exception {
        Recording provider = new Recording();
        Outbox outbox = recording(provider).handler("refund", provider).build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, Key.of("another", "POST /payments", "key-2"), "a");
        try (Connection tx = begin()) {
            outbox.accept(tx, key(3), REQUEST, Codec.bytes(), new OutboxCall("refund", bytes("1")).inOrder("a"));
            insertPayment(tx, key(3));
            tx.commit();
        }
        assertThat(outbox.deliverDue()).isEqualTo(3);
    }

    @Test
    @DisplayName("Behind a call that is made again later, the calls with its order key wait; given up, it lets them go")
    default void behindFailures() throws Exception {
        Recording provider = new Recording();
        Outbox outbox = recording(provider).build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, key(2), "a");
        provider.answer = Provider.Answer.UNREACHABLE;
        for (int tries = 1; tries <= 4; tries++) {
            assertThat(outbox.deliverDue()).isEqualTo(1);
            clock().advance(Duration.ofMinutes(1));
        }
        assertThat(provider.drain()).containsExactly("key-1", "key-1", "key-1", "key-1");
        assertThat(entry(key(1)).state()).isEqualTo(State.FAILED);
        provider.answer = Provider.Answer.CHARGE;
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(key(2)).state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("D6 behind a dead letter they wait until it is resolved")
    default void behindDeadLetter() throws Exception {
        Recording provider = new Recording();
        provider.lifetime = Duration.ZERO;
        Outbox outbox = recording(provider).build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, key(2), "a");
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        assertThat(outbox.listDead(0, 10)).singleElement().satisfies(letter -> {
            assertThat(letter.key()).isEqualTo(key(1));
            assertThat(letter.orderKey()).isEqualTo("a");
        });
        provider.answer = Provider.Answer.CHARGE;
        for (int minutes = 0; minutes < 30; minutes++) {
            clock().advance(Duration.ofMinutes(1));
            outbox.deliverDue();
        }
        assertThat(provider.drain()).containsExactly("key-1");
        byte[] found = Envelope.value(bytes("found"));
        store().resolve(List.of(
                new Resolution(key(1).entryId(), 1, State.COMPLETED, found, "operator", "it is there")));
        clock().advance(Duration.ofMinutes(1));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(outbox.deliverDue()).as("without another pause").isEqualTo(1);
        assertThat(provider.drain()).containsExactly("key-2");
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("W3 behind a dead letter, a call whose time is over makes way, and the business hears of it")
    default void overBehindDeadLetter() throws Exception {
        Recording provider = new Recording();
        provider.lifetime = Duration.ZERO;
        Outbox outbox = recording(provider).build();
        for (int i = 1; i <= 3; i++) {
            acceptInOrder(outbox, key(i), "a");
        }
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        provider.answer = Provider.Answer.CHARGE;
        clock().advance(Duration.ofMinutes(61));
        store().sweep(100);
        assertThat(entry(key(2)).state()).isEqualTo(State.FAILED);
        acceptInOrder(outbox, key(4), "a");
        clock().advance(DueRows.WAIT_MAX);
        assertThat(outbox.deliverDue()).isEqualTo(2);
        assertThat(payment(key(2))).isEqualTo("failed");
        assertThat(payment(key(3))).isEqualTo("failed");
        assertThat(outbox.deliverDue()).isZero();
        assertThat(provider.drain()).as("the others keep their order").containsExactly("key-1");
        assertThat(rows()).isEqualTo(2);
    }

    @Test
    @DisplayName("A call behind another that ends early does not bring on the other's next try")
    default void noEarlierTry() throws Exception {
        Recording provider = new Recording();
        Outbox outbox = recording(provider)
                .pendingMax(LEASE)
                .backoff(Duration.ofHours(1), Duration.ofHours(1))
                .build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, key(2), "a");
        provider.answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        clock().advance(LEASE.plusSeconds(1));
        store().sweep(100);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(payment(key(2))).isEqualTo("failed");
        assertThat(outbox.deliverDue()).isZero();
        assertThat(provider.drain()).containsExactly("key-1");
    }

    @Test
    @DisplayName("An operator who drops a dead letter lets those behind it go at once")
    default void behindDroppedLetter() throws Exception {
        Recording provider = new Recording();
        provider.lifetime = Duration.ZERO;
        Outbox outbox = recording(provider).build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, key(2), "a");
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        provider.answer = Provider.Answer.CHARGE;
        assertThat(outbox.deliverDue()).isZero();
        assertThat(outbox.drop(outbox.listDead(0, 10).get(0).id(), "operator", "noise"))
                .isTrue();
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider.drain()).containsExactly("key-1", "key-2");
    }

    @Test
    @DisplayName("D1 behind a call whose worker has died they wait, also on another node, until it is made again")
    default void behindDeadWorker() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Outbox hanging = builder()
                .handler("charge", new Provider() {
                    @Override
                    public Delivery deliver(OutboxRow row) {
                        called.countDown();
                        OutboxChapter.await(goOn);
                        return super.deliver(row);
                    }
                })
                .build();
        Recording provider = new Recording();
        Outbox outbox = recording(provider).build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, key(2), "a");
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> hung = thread.submit(hanging::deliverDue);
            OutboxChapter.await(called);
            assertThat(outbox.deliverDue()).isZero();
            clock().advance(LEASE.plusSeconds(1));
            store().sweep(100);
            assertThat(outbox.deliverDue()).isEqualTo(1);
            assertThat(outbox.deliverDue()).isEqualTo(1);
            assertThat(provider.drain()).containsExactly("key-1", "key-2");
            goOn.countDown();
            hung.get(60, TimeUnit.SECONDS);
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("D11 a long line is put off while it waits, and holds up nobody who was accepted after it")
    default void longLine() throws Exception {
        Recording provider = new Recording();
        Outbox outbox = recording(provider).rowsMax(4).build();
        for (int i = 1; i <= 30; i++) {
            acceptInOrder(outbox, key(i), "a");
        }
        accept(outbox, key(31));
        provider.answer = Provider.Answer.UNREACHABLE;
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider.drain()).containsExactly("key-1", "key-31");
        assertThat(dueRows()).as("rows that a worker looks at again and again").isZero();
        provider.answer = Provider.Answer.CHARGE;
        clock().advance(Duration.ofSeconds(3));
        List<String> all = new ArrayList<>();
        while (outbox.deliverDue() > 0) {
            all.addAll(provider.drain());
            assertThat(dueRows()).as("the next in line").isLessThanOrEqualTo(1);
        }
        all.remove("key-31");
        assertThat(all).hasSize(30).isSortedAccordingTo((a, b) -> Integer.compare(number(a), number(b)));
    }

    private static int number(String key) {
        return Integer.parseInt(key.substring("key-".length()));
    }

    @Test
    @DisplayName("D1 a node that dies after the end of a call leaves the next one waiting for no longer than a lease")
    default void wakeLost() throws Exception {
        Recording provider = new Recording();
        Outbox outbox = recording(provider).build();
        acceptInOrder(outbox, key(1), "a");
        acceptInOrder(outbox, key(2), "a");
        provider.answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        // As if another node had ended it and had told nobody.
        SqlClock.execute(
                dataSource(),
                "DELETE FROM onlyonce_outbox WHERE id IN (SELECT id FROM (SELECT min(id) AS id FROM onlyonce_outbox) AS f)");
        provider.answer = Provider.Answer.CHARGE;
        assertThat(outbox.deliverDue()).isZero();
        clock().advance(LEASE.plusSeconds(1));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider.drain()).containsExactly("key-1", "key-2");
    }

    @Test
    @DisplayName(
            "D1 D2 two nodes in the background with failures and lost answers: every line in order, every row once")
    default void nodesInTheBackground() throws Exception {
        int lines = 10;
        int rows = 200;
        Map<String, List<Integer>> charged = new ConcurrentHashMap<>();
        Set<String> failed = ConcurrentHashMap.newKeySet();
        Provider handler = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                int number = number(row.key().value());
                if (number % 3 == 0 && failed.add("before " + number)) {
                    return new Delivery.NotExecuted("busy");
                }
                charged.computeIfAbsent(String.valueOf(row.orderKey()), line -> new CopyOnWriteArrayList<>())
                        .add(number);
                if (number % 7 == 0 && failed.add("after " + number)) {
                    return new Delivery.Ambiguous("the answer was lost");
                }
                return new Delivery.Delivered(null, bytes("charged"));
            }
        };
        try (Outbox one = inBackground(handler);
                Outbox two = inBackground(handler)) {
            for (int i = 0; i < rows; i++) {
                acceptInOrder(one, key(i), "line-" + i % lines);
                if (i == rows / 4) {
                    one.start();
                    two.start();
                }
            }
            long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
            while (rows() > 0 && System.nanoTime() - end < 0) {
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            }
        }
        assertThat(rows()).isZero();
        Map<String, List<Integer>> expected = new HashMap<>();
        for (int i = 0; i < rows; i++) {
            List<Integer> line = expected.computeIfAbsent("line-" + i % lines, any -> new ArrayList<>());
            line.add(i);
            if (i % 7 == 0) {
                line.add(i);
            }
        }
        assertThat(charged).isEqualTo(expected);
    }

    private Outbox inBackground(Provider handler) {
        return builder()
                .handler("charge", handler)
                .backoff(Duration.ZERO, Duration.ZERO)
                .concurrency(4)
                .rowsMax(20)
                .build();
    }

    @Test
    @DisplayName("An order key that not all databases keep as it is is refused, and nothing is accepted")
    default void badOrderKey() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin()) {
            for (String bad : List.of("k".repeat(256), "nul\0", "\ud800")) {
                assertThatThrownBy(() -> outbox.accept(
                                tx, KEY, REQUEST, Codec.bytes(), call("990").inOrder(bad)))
                        .isInstanceOf(StoreRejected.class)
                        .hasMessageContaining("order key");
            }
            tx.commit();
        }
        assertThat(store().find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThat(rows()).isZero();
    }
}
