package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.await;
import static dev.onlyonce.sql.outbox.OutboxChapter.call;
import static dev.onlyonce.sql.outbox.OutboxChapter.inFlight;
import static dev.onlyonce.sql.outbox.OutboxChapter.insertPayment;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages are delivered however long no worker runs, whatever happened before. */
interface OutboxLastingChapter extends OutboxChapter {
    /** Far beyond the retention, and with a margin for those who count days in weekends. */
    Duration LONG = Duration.ofDays(400);

    private Accepted<byte[]> send(Outbox outbox, Key key, OutboxCall call) throws SQLException {
        try (Connection tx = begin()) {
            Accepted<byte[]> accepted = outbox.accept(tx, key, REQUEST, Codec.bytes(), call);
            if (accepted.isNew()) {
                insertPayment(tx, key);
            }
            tx.commit();
            return accepted;
        }
    }

    private void send(Outbox outbox, Key key) throws SQLException {
        assertThat(send(outbox, key, call("990").untilTaken()).isNew()).isTrue();
    }

    /** No worker runs for so long that everything is forgotten that can be. */
    private void nobodyRuns() {
        clock().advance(LONG);
        store().sweep(100);
        store().purge(100);
    }

    /** A new worker delivers; afterwards the answers are kept for no longer than others. */
    private List<String> deliverAll() {
        OutboxOrderChapter.Recording provider = new OutboxOrderChapter.Recording();
        Outbox outbox = builder().handler("charge", provider).build();
        for (int i = 0; i < 10 && rows() > 0; i++) {
            outbox.deliverDue();
        }
        assertThat(rows()).isZero();
        assertThat(entries("state = 3")).isEqualTo(entries("1 = 1"));
        clock().advance(Duration.ofHours(23));
        store().purge(100);
        assertThat(entries("1 = 1")).isPositive();
        clock().advance(Duration.ofHours(2));
        store().purge(100);
        assertThat(entries("1 = 1")).as("kept no longer than others").isZero();
        return provider.drain();
    }

    private long entries(String which) {
        return SqlClock.number(
                dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0 AND " + which);
    }

    private void absent(Key key) {
        int attempt = entry(key).attempt();
        store().resolve(List.of(
                new Resolution(key.entryId(), attempt, State.RETRYABLE, null, "operator", "not there")));
        assertThat(entry(key).state()).isEqualTo(State.RETRYABLE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "N5 what a closing worker gives back is sent by the next one, however late, once and in order; a charge is not")
    default void closed(boolean lasting) throws Exception {
        SlowProvider slow = new SlowProvider(1);
        Outbox outbox = builder().handler("charge", slow).concurrency(1).build();
        OutboxCall call = lasting ? call("990").untilTaken() : call("990");
        for (int i = 1; i <= 3; i++) {
            send(outbox, key(i), call);
        }
        send(outbox, key(4), call.inOrder("line"));
        send(outbox, key(5), call.inOrder("line"));
        outbox.start();
        await(slow.called);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> closing = thread.submit(outbox::close);
            until(() -> entries("state = 5") == 3);
            slow.goOn.countDown();
            closing.get(60, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
        nobodyRuns();
        nobodyRuns();
        if (lasting) {
            assertThat(deliverAll())
                    .containsExactlyInAnyOrder("key-2", "key-3", "key-4", "key-5")
                    .containsSubsequence("key-4", "key-5");
            for (int i = 1; i <= 5; i++) {
                assertThat(payment(key(i))).isEqualTo("paid");
            }
        } else {
            for (int i = 0; i < 3; i++) {
                outbox().deliverDue();
            }
            assertThat(provider().keys)
                    .as("nobody wants to be charged a year later")
                    .isEmpty();
            assertThat(payment(key(2))).isEqualTo("failed");
        }
    }

    @Test
    @DisplayName("N5 a message that could not be sent is sent however late")
    default void unreachable() throws Exception {
        provider().answer = Provider.Answer.UNREACHABLE;
        Outbox outbox = outbox();
        send(outbox, KEY);
        for (int i = 0; i < 3; i++) {
            assertThat(outbox.deliverDue()).isEqualTo(1);
            assertThat(entry(KEY).state()).isEqualTo(State.RETRYABLE);
            nobodyRuns();
        }
        assertThat(deliverAll()).containsExactly("key-1");
        assertThat(payment(KEY)).isEqualTo("paid");
    }

    @Test
    @DisplayName(
            "N5 D6 a message whose worker was killed is sent, however late it is found absent and workers run again")
    default void killed() throws Exception {
        Outbox outbox = outbox();
        send(outbox, KEY);
        Future<?> dead = die(outbox, Provider.Answer.DIE_BEFORE);
        nobodyRuns();
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        nobodyRuns();
        absent(KEY);
        nobodyRuns();
        assertThat(deliverAll()).containsExactly("key-1");
        assertThat(payment(KEY)).isEqualTo("paid");
        dead.cancel(true);
    }

    @Test
    @DisplayName("D6 T1 a message that is found to be sent is not sent again, and its answer expires as others do")
    default void found() throws Exception {
        provider().lifetime = Duration.ZERO;
        provider().answer = Provider.Answer.LOSE_ANSWER;
        Outbox outbox = outbox();
        send(outbox, KEY);
        outbox.deliverDue();
        byte[] sent = Envelope.value(new byte[0]);
        store().resolve(List.of(new Resolution(KEY.entryId(), 1, State.COMPLETED, sent, "operator", "seen there")));
        clock().advance(Duration.ofMinutes(2));
        assertThat(deliverAll()).isEmpty();
        assertThat(payment(KEY)).isEqualTo("paid");
    }

    @Test
    @DisplayName("N5 a dropped message that is found absent, and sent again by its client, is sent however late")
    default void droppedAndQueuedAgain() throws Exception {
        provider().lifetime = Duration.ZERO;
        provider().answer = Provider.Answer.LOSE_REQUEST;
        Outbox outbox = outbox();
        send(outbox, KEY);
        outbox.deliverDue();
        assertThat(outbox.drop(outbox.listDead(0, 10).get(0).id(), "operator", "noise"))
                .isTrue();
        absent(KEY);
        assertThat(send(outbox, KEY, call("990").untilTaken())).isEqualTo(inFlight());
        assertThat(rows()).isEqualTo(1);
        nobodyRuns();
        assertThat(deliverAll()).containsExactly("key-1");
    }

    @Test
    @DisplayName(
            "N5 a message whose entry is purged while it is queued again is refused, and not taken for one in flight")
    default void purgedWhileQueued() throws Exception {
        provider().answer = Provider.Answer.UNREACHABLE;
        Outbox outbox = outbox();
        accept(outbox, KEY);
        outbox.deliverDue();
        SqlClock.execute(dataSource(), "DELETE FROM onlyonce_outbox");
        try (Connection tx = begin()) {
            assertThatThrownBy(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), c -> {
                        try (Statement purge = c.createStatement()) {
                            purge.execute("DELETE FROM onlyonce_entry WHERE fingerprint_version > 0");
                        }
                        return call("990").untilTaken();
                    }))
                    .isInstanceOf(StoreBusy.class);
            assertThat(outbox.accept(
                            tx, KEY, REQUEST, Codec.bytes(), call("990").untilTaken()))
                    .as("the transaction goes on")
                    .isEqualTo(inFlight());
            tx.commit();
        }
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("N5 D11 a message whose worker lost the database between claiming and calling is sent however late")
    default void failsBeforeTheMessage() throws Exception {
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
                                    // After the claim, before what is left to write.
                                    down.set(true);
                                }
                            })))
                    .handler("charge", provider())
                    .build();
            send(outbox, KEY);
            SqlClock.execute(dataSource(), "UPDATE onlyonce_outbox SET first_sent_at = 1");
            assertThatThrownBy(outbox::deliverDue).isInstanceOf(StoreException.class);
            assertThat(outbox.deliverDue()).as("the claim is released").isZero();
            assertThat(entry(KEY).state()).isEqualTo(State.RETRYABLE);
            outbox.close();
        }
        assertThat(provider().keys).isEmpty();
        nobodyRuns();
        assertThat(deliverAll()).containsExactly("key-1");
        assertThat(payment(KEY)).isEqualTo("paid");
    }

    /** Half of its calls find nobody, by chance. It remembers which came through, in their order. */
    final class Flaky extends Provider {
        final List<String> sent = new CopyOnWriteArrayList<>();
        private final Random chance;

        Flaky(long seed) {
            chance = new Random(seed);
        }

        @Override
        public Delivery deliver(OutboxRow row) {
            synchronized (chance) {
                if (chance.nextBoolean()) {
                    throw new NotExecuted("nobody there");
                }
                sent.add(row.key().value());
            }
            return new Delivery.Delivered(null, new byte[0]);
        }
    }

    @Test
    @DisplayName(
            "N5 T3 nodes with different settings come and go for months while others purge: all are sent once, in order")
    default void comeAndGo() throws Exception {
        int messages = 30;
        Flaky provider = new Flaky(16);
        for (int i = 1; i <= messages; i++) {
            send(outbox(), key(i), call("990").untilTaken().inOrder("line-" + i % 10));
        }
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            for (int round = 0; rows() > 0 && round < 200; round++) {
                Duration retention = Duration.ofHours(round % 2 == 0 ? 24 : 2);
                try (Outbox one = builder()
                                .handler("charge", provider)
                                .triesMax(1000)
                                .build();
                        Outbox two = builder(once -> once.retention(retention))
                                .handler("charge", provider)
                                .triesMax(1000)
                                .concurrency(1)
                                .rowsMax(5)
                                .build()) {
                    int before = provider.sent.size();
                    Future<?> upkeep = thread.submit(this::upkeep);
                    one.start();
                    two.start();
                    until(() -> provider.sent.size() > before || rows() == 0 || waiting());
                    upkeep.get(60, TimeUnit.SECONDS);
                }
                clock().advance(Duration.ofDays(3));
            }
        } finally {
            thread.shutdownNow();
        }
        assertThat(provider.sent).hasSize(messages).doesNotHaveDuplicates();
        for (int i = 1; i <= 10; i++) {
            assertThat(provider.sent).containsSubsequence("key-" + i, "key-" + (i + 10), "key-" + (i + 20));
        }
        assertThat(rows()).isZero();
    }

    private void upkeep() {
        try {
            store().sweep(100);
            store().purge(100);
        } catch (StoreBusy e) {
            // The next round does it.
        }
    }

    /** Whether all rows wait for a time to come. */
    private boolean waiting() {
        return SqlClock.number(
                        dataSource(),
                        "SELECT count(*) FROM onlyonce_outbox, onlyonce_test_clock WHERE due_at <= micros OR token IS NOT NULL")
                == 0;
    }

    @Test
    @DisplayName("R7 an operator who evicts the entry of a message that waits for its next try cancels the message")
    default void evicted() throws Exception {
        provider().answer = Provider.Answer.UNREACHABLE;
        Outbox outbox = outbox();
        send(outbox, KEY);
        outbox.deliverDue();
        assertThat(store().evict(KEY.entryId(), "operator", "must not leave")).isPresent();
        nobodyRuns();
        provider().answer = Provider.Answer.CHARGE;
        outbox.deliverDue();
        assertThat(provider().charges).isEmpty();
        assertThat(payment(KEY)).as("the business hears of it").isEqualTo("failed");
        assertThat(rows()).isZero();
    }
}
