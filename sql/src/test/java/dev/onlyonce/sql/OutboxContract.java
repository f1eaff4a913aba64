package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.onlyonce.Event;
import dev.onlyonce.Failure;
import dev.onlyonce.Fingerprint;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.State;
import dev.onlyonce.internal.Envelope;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Resolution;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
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
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The queued way, the same on every database, with a clock that only moves when told. */
abstract class OutboxContract {
    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    private static final Key KEY = key(1);
    private static final Duration LEASE = Duration.ofSeconds(30);

    private SqlStore store;
    private SqlClock clock;
    private Provider provider;
    private final List<Event> events = new CopyOnWriteArrayList<>();

    abstract DataSource dataSource();

    @BeforeEach
    final void create() {
        SqlStore.open(dataSource()).close();
        clock = SqlClock.start(dataSource());
        store = SqlStore.builder(dataSource()).clock(SqlClock.SQL).build();
        SqlClock.execute(
                dataSource(),
                "DELETE FROM onlyonce_entry",
                "DELETE FROM onlyonce_audit",
                "DELETE FROM onlyonce_outbox",
                "DROP TABLE IF EXISTS payment",
                "CREATE TABLE payment (id VARCHAR(100) NOT NULL PRIMARY KEY, state VARCHAR(100) NOT NULL)");
        provider = new Provider();
    }

    @AfterEach
    final void close() {
        store.close();
    }

    /** Charges once for each downstream key, and remembers what it answered. */
    private static class Provider implements DeliveryHandler {
        final Map<String, Integer> charges = new ConcurrentHashMap<>();
        final List<String> keys = new ArrayList<>();
        final Set<Integer> failing = ConcurrentHashMap.newKeySet();
        volatile Duration lifetime = Duration.ofHours(1);
        volatile Answer answer = Answer.CHARGE;

        enum Answer {
            CHARGE,
            REFUSE,
            UNREACHABLE,
            LOSE_ANSWER,
            LOSE_REQUEST,
            DIE_BEFORE,
            DIE_AFTER,
            DIE_RECORDING
        }

        @Override
        public Delivery deliver(OutboxRow row) {
            synchronized (keys) {
                keys.add(row.downstreamKey());
            }
            switch (answer) {
                case UNREACHABLE -> throw new NotExecuted("connection refused");
                case LOSE_REQUEST -> throw new IllegalStateException("reset before");
                case DIE_BEFORE -> throw new Died();
                case REFUSE -> {
                    return new Delivery.Refused("declined-1", bytes("declined"));
                }
                default -> {}
            }
            charges.merge(row.downstreamKey(), 1, (a, b) -> a);
            if (answer == Answer.LOSE_ANSWER) {
                throw new IllegalStateException("reset after");
            }
            if (answer == Answer.DIE_AFTER) {
                throw new Died();
            }
            return new Delivery.Delivered("ch-" + row.downstreamKey(), bytes("charged"));
        }

        @Override
        public Duration keyLifetime() {
            return lifetime;
        }

        @Override
        public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException {
            if (answer == Answer.DIE_RECORDING) {
                throw new Died();
            }
            String state = delivery instanceof Delivery.Delivered
                    ? "paid"
                    : delivery instanceof Delivery.Refused ? "declined" : "failed";
            try (PreparedStatement update = transaction.prepareStatement("UPDATE payment SET state = ? WHERE id = ?")) {
                update.setString(1, state);
                update.setString(2, row.key().value());
                assertThat(update.executeUpdate()).isEqualTo(1);
            }
            if (failing.contains(Integer.parseInt(row.key().value().substring(4)))) {
                throw new IllegalStateException("the business says no");
            }
        }
    }

    /** The process is no more: nothing after it runs. */
    private static final class Died extends Error {
        private static final long serialVersionUID = 1;
    }

    private Outbox outbox() {
        return builder().build();
    }

    private Outbox.Builder builder() {
        return store.outbox()
                .policy(Policy.builder().lease(LEASE).build())
                .handler("charge", provider)
                .triesMax(4)
                .backoff(Duration.ofSeconds(2), Duration.ofSeconds(60))
                .parkFor(Duration.ofSeconds(60))
                .listener(events::add);
    }

    private Accepted accept(Outbox outbox, Key key) throws SQLException {
        try (Connection tx = begin()) {
            Accepted accepted = outbox.accept(tx, key, REQUEST, "charge", bytes("990"));
            if (accepted instanceof Accepted.New) {
                insertPayment(tx, key);
            }
            tx.commit();
            return accepted;
        }
    }

    private static void insertPayment(Connection tx, Key key) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO payment VALUES (?, 'accepted')")) {
            insert.setString(1, key.value());
            insert.executeUpdate();
        }
    }

    @Test
    @DisplayName("W1 entry, row and business write commit together, and are delivered once")
    void delivers() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin()) {
            assertThat(outbox.accept(tx, KEY, REQUEST, "charge", bytes("990"))).isInstanceOf(Accepted.New.class);
            insertPayment(tx, KEY);
            tx.commit();
        }
        assertThat(entry(KEY).state()).isEqualTo(State.PENDING);
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());

        assertThat(outbox.deliverDue()).isEqualTo(1);

        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(rows()).isZero();
        assertThat(provider.charges).hasSize(1);
        assertThat(outbox.deliverDue()).isZero();
        assertThat(replayed(accept(outbox, KEY))).isEqualTo("charged");
        assertThat(events).anyMatch(e -> e instanceof Event.Delivery d && d.fate() == Event.Delivery.Fate.DELIVERED);
    }

    @ParameterizedTest(name = "{0}, at most {1} tries")
    @CsvSource({"CHARGE, 4", "UNREACHABLE, 1", "UNREACHABLE, 4"})
    @DisplayName("D2 a worker whose row was taken by another one changes nothing: no answer, no end, no later try")
    void rowTaken(Provider.Answer answer, int triesMax) throws Exception {
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
        assertThat(events).anyMatch(Event.ClaimLost.class::isInstance);
    }

    @Test
    @DisplayName("W1 a rolled-back acceptance leaves neither entry nor row, and nothing is called")
    void rolledBack() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin()) {
            outbox.accept(tx, KEY, REQUEST, "charge", bytes("990"));
            insertPayment(tx, KEY);
            tx.rollback();
        }
        assertThat(outbox.deliverDue()).isZero();
        assertThat(rows()).isZero();
        assertThat(store.find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThat(accept(outbox, KEY)).isInstanceOf(Accepted.New.class);
    }

    @Test
    @DisplayName("C6 F1 a duplicate or a mismatch inside a transaction does not harm it")
    void duplicateInTransaction() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        try (Connection tx = begin()) {
            insertPayment(tx, key(2));
            assertThat(outbox.accept(tx, KEY, REQUEST, "charge", bytes("990"))).isEqualTo(inFlight());
            Fingerprint other = Fingerprint.of(bytes("other"));
            assertThat(outbox.accept(tx, KEY, other, "charge", bytes("991")))
                    .isEqualTo(new Accepted.Existing(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST)));
            tx.commit();
        }
        assertThat(payment(key(2))).isEqualTo("accepted");
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("D7 a refusal is the result: completed, not tried again")
    void refused() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.REFUSE;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(replayed(accept(outbox, KEY))).isEqualTo("declined");
        assertThat(payment(KEY)).isEqualTo("declined");
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("W4 W2 an unreachable provider: backs off, sends the same key each time, and fails after the last try")
    void backsOffAndFails() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.UNREACHABLE;
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.RETRYABLE);
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());
        assertThat(outbox.deliverDue()).isZero();
        for (int seconds : new int[] {2, 4, 8}) {
            clock.advance(Duration.ofSeconds(seconds).dividedBy(2).minusMillis(1));
            assertThat(outbox.deliverDue())
                    .as("not before half of %s s", seconds)
                    .isZero();
            clock.advance(Duration.ofSeconds(seconds).dividedBy(2).plusMillis(1));
            assertThat(outbox.deliverDue()).as("after %s s", seconds).isEqualTo(1);
        }
        assertThat(entry(KEY).state()).isEqualTo(State.FAILED);
        assertThat(((Outcome.Failed<byte[]>) ((Accepted.Existing) accept(outbox, KEY)).outcome()).failure())
                .isEqualTo(new Failure(Failure.DELIVERY_FAILED, "connection refused"));
        assertThat(payment(KEY)).isEqualTo("failed");
        assertThat(rows()).isZero();
        assertThat(provider.keys).hasSize(4);
        assertThat(Set.copyOf(provider.keys)).hasSize(1);
        assertThat(provider.charges).isEmpty();
        assertThat(events).anyMatch(e -> e instanceof Event.Delivery d && d.fate() == Event.Delivery.Fate.DEAD);
    }

    @Test
    @DisplayName("D4 W2 a lost answer is unknown, and is asked for again with the same key")
    void lostAnswer() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        assertThat(((Accepted.Existing) accept(outbox, KEY)).outcome()).isInstanceOf(Outcome.Unknown.class);
        provider.answer = Provider.Answer.CHARGE;
        clock.advance(Duration.ofSeconds(2));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(provider.charges).hasSize(1);
        assertThat(Set.copyOf(provider.keys)).hasSize(1);
    }

    @Test
    @DisplayName(
            "D4 that the second call had no effect says nothing about the first: it stays unknown, and ends as a dead letter")
    void unreachableAfterDoubt() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        provider.answer = Provider.Answer.UNREACHABLE;
        for (int i = 0; i < 3; i++) {
            clock.advance(Duration.ofSeconds(60));
            assertThat(outbox.deliverDue()).isEqualTo(1);
            assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        }
        assertThat(outbox.listDead(0, 10)).hasSize(1);
        int calls = provider.keys.size();
        clock.advance(Duration.ofSeconds(60));
        outbox.deliverDue();
        assertThat(provider.keys).hasSize(calls);
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    @DisplayName(
            "W2 after the provider's key lifetime nothing is sent again: a dead letter for the reconciler or an operator")
    void keyLifetimeOver() throws Exception {
        provider.lifetime = Duration.ofMinutes(2);
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        clock.advance(Duration.ofMinutes(2));
        outbox.deliverDue();
        assertThat(provider.keys).hasSize(1);
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        OutboxRow dead = outbox.listDead(0, 10).get(0);
        assertThat(dead.key()).isEqualTo(KEY);
        assertThat(dead.lastError()).contains("reset after");

        assertThat(outbox.retry(dead.id(), "operator", "try")).isTrue();
        outbox.deliverDue();
        assertThat(provider.keys)
                .as("an operator's retry does not send an old key either")
                .hasSize(1);
        assertThat(outbox.listDead(0, 10)).hasSize(1);
    }

    @Test
    @DisplayName("W4 rows that failed together do not come back together")
    void jitter() throws Exception {
        Outbox outbox = outbox();
        for (int i = 1; i <= 8; i++) {
            accept(outbox, key(i));
        }
        provider.answer = Provider.Answer.UNREACHABLE;
        assertThat(outbox.deliverDue()).isEqualTo(8);
        try (Connection connection = dataSource().getConnection();
                ResultSet times = connection
                        .createStatement()
                        .executeQuery("SELECT COUNT(DISTINCT due_at) FROM onlyonce_outbox")) {
            assertThat(times.next()).isTrue();
            assertThat(times.getInt(1)).isGreaterThan(4);
        }
    }

    @Test
    @DisplayName("W2 a key whose lifetime would end while the call is under way is not sent again")
    void keyLifetimeEndsDuringTheCall() throws Exception {
        provider.lifetime = Duration.ofMinutes(2);
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        clock.advance(Duration.ofMinutes(2).minus(LEASE));
        outbox.deliverDue();
        assertThat(provider.keys).hasSize(1);
        assertThat(outbox.listDead(0, 10)).hasSize(1);
    }

    @Test
    @DisplayName("D6 a dead letter goes on by itself when its entry is resolved: found ends it, absent sends it")
    void resolved() throws Exception {
        provider.lifetime = Duration.ZERO;
        Outbox outbox = outbox();
        accept(outbox, key(1));
        accept(outbox, key(2));
        provider.answer = Provider.Answer.LOSE_REQUEST;
        outbox.deliverDue();
        assertThat(outbox.listDead(0, 10)).hasSize(2);
        byte[] found = Envelope.value(bytes("found"));
        store.resolve(List.of(
                new Resolution(key(1).entryId(), 1, State.COMPLETED, found, "operator", "seen in their console"),
                new Resolution(key(2).entryId(), 1, State.RETRYABLE, null, "reconciler", "they do not know it")));
        provider.answer = Provider.Answer.CHARGE;
        clock.advance(Duration.ofSeconds(61));
        assertThat(outbox.deliverDue()).isEqualTo(2);
        assertThat(payment(key(1))).isEqualTo("paid");
        assertThat(payment(key(2))).isEqualTo("paid");
        assertThat(provider.keys).hasSize(3);
        assertThat(provider.charges).hasSize(1);
        assertThat(entry(key(2)).attempt()).isEqualTo(2);
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("S2 the audit has the whole way of a queued operation, and the operator's retry of its dead letter")
    void audited() throws Exception {
        provider.lifetime = Duration.ZERO;
        Outbox outbox = builder().name("worker").build();
        accept(outbox, KEY);
        accept(outbox, KEY);
        assertThat(history(KEY)).containsExactly("0 null>PENDING worker: accepted");
        provider.answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        clock.advance(Duration.ofMinutes(1));
        provider.answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        long letter = outbox.listDead(0, 10).get(0).id();
        assertThat(outbox.retry(letter, "alice", "ticket 42")).isTrue();
        assertThat(outbox.retry(letter, "alice", "it is none any more")).isFalse();
        store.resolve(List.of(new Resolution(KEY.entryId(), 2, State.RETRYABLE, null, "bob", "not at the provider")));
        clock.advance(Duration.ofMinutes(2));
        provider.answer = Provider.Answer.CHARGE;
        outbox.deliverDue();
        assertThat(history(KEY))
                .containsExactly(
                        "0 null>PENDING worker: accepted",
                        "1 PENDING>PROCESSING worker: claimed",
                        "1 PROCESSING>RETRYABLE worker: connection refused",
                        "2 RETRYABLE>PROCESSING worker: claimed",
                        "2 PROCESSING>UNKNOWN worker: java.lang.IllegalStateException: reset after",
                        "2 UNKNOWN>UNKNOWN alice: dead letter to be tried again: ticket 42",
                        "2 UNKNOWN>RETRYABLE bob: not at the provider",
                        "3 RETRYABLE>PROCESSING worker: claimed",
                        "3 PROCESSING>COMPLETED worker: delivered");
    }

    @Test
    @DisplayName("S2 a rolled-back acceptance and a business update that fails leave no record of what did not happen")
    void notAudited() throws Exception {
        Outbox outbox = builder().name("worker").build();
        try (Connection tx = begin()) {
            outbox.accept(tx, KEY, REQUEST, "charge", bytes("990"));
            tx.rollback();
        }
        assertThat(history(KEY)).isEmpty();
        accept(outbox, KEY);
        provider.failing.add(1);
        outbox.deliverDue();
        assertThat(history(KEY))
                .hasSize(3)
                .last(STRING)
                .startsWith("1 PROCESSING>UNKNOWN worker: the business update failed");
        provider.failing.clear();
        clock.advance(Duration.ofMinutes(1));
        outbox.deliverDue();
        assertThat(history(KEY)).hasSize(4).last(STRING).isEqualTo("1 UNKNOWN>COMPLETED worker: delivered");
    }

    private List<String> history(Key key) {
        return Claims.history(store, key);
    }

    @Test
    @DisplayName("An operator drops a dead letter; proven absent later, the client's next request queues it again")
    void dropped() throws Exception {
        provider.lifetime = Duration.ZERO;
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.LOSE_REQUEST;
        outbox.deliverDue();
        assertThat(outbox.drop(outbox.listDead(0, 10).get(0).id(), "operator", "noise"))
                .isTrue();
        assertThat(history(KEY)).last(STRING).isEqualTo("1 UNKNOWN>UNKNOWN operator: dead letter dropped: noise");
        assertThat(rows()).isZero();
        store.resolve(List.of(new Resolution(KEY.entryId(), 1, State.RETRYABLE, null, "operator", "absent")));
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());
        assertThat(rows()).isEqualTo(1);
        provider.answer = Provider.Answer.CHARGE;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(provider.charges).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Provider.Answer.class,
            names = {"DIE_BEFORE", "DIE_AFTER", "DIE_RECORDING"})
    @DisplayName(
            "D1 W3 a worker that dies before the call, after it, or while recording: one charge, and nothing stuck")
    void dies(Provider.Answer when) throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = when;
        assertThatThrownBy(outbox::deliverDue).isInstanceOf(Died.class);
        assertThat(entry(KEY).state()).isEqualTo(State.PROCESSING);
        provider.answer = Provider.Answer.CHARGE;
        int calls = provider.keys.size();

        assertThat(outbox.deliverDue()).as("its lease holds").isZero();
        clock.advance(LEASE.plusSeconds(1));
        store.sweep(100);
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        assertThat(outbox.deliverDue()).isEqualTo(1);

        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(provider.charges).hasSize(1);
        assertThat(Set.copyOf(provider.keys)).hasSize(1);
        boolean recorded = when == Provider.Answer.DIE_RECORDING;
        assertThat(provider.keys).as("a recorded answer is not asked for again").hasSize(recorded ? calls : calls + 1);
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("A row that is due before the sweep has seen its dead worker waits for it")
    void beforeTheSweep() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.DIE_AFTER;
        assertThatThrownBy(outbox::deliverDue).isInstanceOf(Died.class);
        provider.answer = Provider.Answer.CHARGE;
        clock.advance(LEASE.plusSeconds(1));
        outbox.deliverDue();
        assertThat(provider.keys).hasSize(1);
        store.sweep(100);
        clock.advance(Duration.ofSeconds(1));
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(provider.charges).hasSize(1);
    }

    @Test
    @DisplayName("T4 what nobody took in time fails, and is not called after the client was told")
    void abandoned() throws Exception {
        Outbox outbox = builder().pendingMax(Duration.ofMinutes(1)).build();
        accept(outbox, KEY);
        clock.advance(Duration.ofMinutes(1));
        store.sweep(100);
        assertThat(entry(KEY).state()).isEqualTo(State.FAILED);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider.keys).isEmpty();
        assertThat(payment(KEY)).isEqualTo("failed");
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("A row whose entry was evicted and started anew is not delivered for it")
    void startedAnew() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider.answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        assertThat(store.evict(KEY.entryId(), "operator", "test")).isPresent();
        SqlClock.execute(dataSource(), "DELETE FROM payment");
        clock.advance(Duration.ofSeconds(2));
        assertThat(accept(outbox, KEY)).isInstanceOf(Accepted.New.class);
        provider.answer = Provider.Answer.CHARGE;
        outbox.deliverDue();
        assertThat(provider.keys).as("one before, one for the new entry").hasSize(2);
        assertThat(rows()).isZero();
        assertThat(payment(KEY)).isEqualTo("paid");
    }

    @Test
    @DisplayName("A business update that fails holds up only its own row, is tried again, and the call is not")
    void updateFails() throws Exception {
        Outbox outbox = outbox();
        for (int i = 1; i <= 5; i++) {
            accept(outbox, key(i));
        }
        provider.failing.add(3);
        assertThat(outbox.deliverDue()).isEqualTo(5);
        for (int i = 1; i <= 5; i++) {
            assertThat(entry(key(i)).state()).isEqualTo(i == 3 ? State.UNKNOWN : State.COMPLETED);
            assertThat(payment(key(i))).isEqualTo(i == 3 ? "accepted" : "paid");
        }
        provider.failing.clear();
        clock.advance(Duration.ofSeconds(2));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(key(3)).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(key(3))).isEqualTo("paid");
        assertThat(provider.keys).hasSize(5);
    }

    @Test
    @DisplayName("D2 a worker that was away for longer than its lease records nothing")
    void fenced() throws Exception {
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
            clock.advance(LEASE.plusSeconds(1));
            store.sweep(100);
            assertThat(outbox().deliverDue()).isEqualTo(1);
            goOn.countDown();
            delivering.get(60, TimeUnit.SECONDS);
        } finally {
            goOn.countDown();
            thread.shutdownNow();
        }
        assertThat(replayed(accept(late, KEY))).isEqualTo("charged");
        assertThat(events).anyMatch(e -> e instanceof Event.ClaimLost);
    }

    @Test
    @DisplayName(
            "Two nodes in the background, one with a stuck call: each row is called once, and the stuck one holds up nobody")
    void twoNodes() throws Exception {
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
                assertThat(one.await(key(i), REQUEST, Duration.ofSeconds(60)))
                        .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
            }
            assertThat(one.await(KEY, REQUEST, Duration.ofMillis(50)))
                    .contains(new Outcome.InFlight<>(true, Duration.ofSeconds(1)));
            goOn.countDown();
            assertThat(two.await(KEY, REQUEST, Duration.ofSeconds(60)))
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
    void shutDown() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Provider slow = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                called.countDown();
                await(goOn);
                return super.deliver(row);
            }
        };
        Outbox outbox = builder().handler("charge", slow).concurrency(1).build();
        for (int i = 1; i <= 5; i++) {
            accept(outbox, key(i));
        }
        outbox.start();
        await(called);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<?> closing = thread.submit(outbox::close);
            goOn.countDown();
            closing.get(60, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
        assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE state IN (2, 6)"))
                .isZero();
        outbox().deliverDue();
        for (int i = 1; i <= 5; i++) {
            assertThat(entry(key(i)).state()).isEqualTo(State.COMPLETED);
        }
        assertThat(rows()).isZero();
    }

    private Connection begin() throws SQLException {
        Connection connection = dataSource().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private Entry entry(Key key) {
        return store.find(List.of(key.entryId())).get(0).orElseThrow();
    }

    private String payment(Key key) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                var statement = connection.prepareStatement("SELECT state FROM payment WHERE id = ?")) {
            statement.setString(1, key.value());
            try (var row = statement.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        }
    }

    private long rows() {
        return SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_outbox");
    }

    private static Accepted inFlight() {
        return new Accepted.Existing(new Outcome.InFlight<>(true, Duration.ofSeconds(1)));
    }

    private static String replayed(Accepted accepted) {
        Outcome<byte[]> outcome = ((Accepted.Existing) accepted).outcome();
        return new String(((Outcome.Replayed<byte[]>) outcome).value(), StandardCharsets.UTF_8);
    }

    private static Key key(int number) {
        return Key.of("tenant", "POST /payments", "key-" + number);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
