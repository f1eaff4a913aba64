package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static dev.onlyonce.sql.outbox.OutboxChapter.call;
import static dev.onlyonce.sql.outbox.OutboxChapter.inFlight;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What operators and the reconciler do about dead letters, and what the audit says of it. */
interface OutboxOperatorChapter extends OutboxChapter {

    @Test
    @DisplayName("D6 a dead letter goes on by itself when its entry is resolved: found ends it, absent sends it")
    default void resolved() throws Exception {
        provider().lifetime = Duration.ZERO;
        Outbox outbox = outbox();
        accept(outbox, key(1));
        accept(outbox, key(2));
        provider().answer = Provider.Answer.LOSE_REQUEST;
        outbox.deliverDue();
        assertThat(outbox.listDead(0, 10)).hasSize(2);
        byte[] found = Envelope.value(bytes("found"));
        store().resolve(List.of(
                new Resolution(key(1).entryId(), 1, State.COMPLETED, found, "operator", "seen in their console"),
                new Resolution(key(2).entryId(), 1, State.RETRYABLE, null, "reconciler", "they do not know it")));
        provider().answer = Provider.Answer.CHARGE;
        clock().advance(Duration.ofSeconds(61));
        assertThat(outbox.deliverDue()).isEqualTo(2);
        assertThat(payment(key(1))).isEqualTo("paid");
        assertThat(payment(key(2))).isEqualTo("paid");
        assertThat(provider().keys).hasSize(3);
        assertThat(provider().charges).hasSize(1);
        assertThat(entry(key(2)).attempt()).isEqualTo(2);
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName(
            "W3 an entry that the reconciler ends during a call reaches the business data at once, not after the lease")
    default void resolvedDuringCall() throws Exception {
        provider().answer = Provider.Answer.LOSE_ANSWER;
        Outbox outbox = outbox();
        accept(outbox, KEY);
        outbox.deliverDue();
        Provider overtaken = new Provider() {
            @Override
            public Delivery deliver(OutboxRow row) {
                store().resolve(List.of(new Resolution(
                        KEY.entryId(), 1, State.COMPLETED, Envelope.value(bytes("found")), "reconciler", "found")));
                return super.deliver(row);
            }
        };
        Outbox late = builder().handler("charge", overtaken).build();
        clock().advance(Duration.ofSeconds(2));
        assertThat(late.deliverDue()).isEqualTo(1);
        assertThat(late.deliverDue()).isEqualTo(1);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(rows()).isZero();
        assertThat(overtaken.keys).hasSize(1);
        assertThat(replayed(accept(outbox, KEY))).isEqualTo("found");
    }

    @Test
    @DisplayName(
            "A list of dead letters leaves their payloads in the database: many large ones might not fit into memory")
    default void listedWithoutPayloads() throws Exception {
        provider().lifetime = Duration.ZERO;
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_REQUEST;
        outbox.deliverDue();
        assertThat(outbox.listDead(0, 10)).singleElement().satisfies(letter -> {
            assertThat(letter.key()).isEqualTo(KEY);
            assertThat(letter.lastError()).isNotEmpty();
            assertThat(letter.payload()).isEmpty();
        });
        assertThat(outbox.find(KEY).orElseThrow().payload()).isNotEmpty();
        long id = outbox.letters(0, 10).get(0).id();
        assertThat(outbox.letter(id).orElseThrow().payload()).isNotEmpty();
        assertThat(outbox.letter(id - 1)).isEmpty();
    }

    @Test
    @DisplayName("An operator drops a dead letter; proven absent later, the client's next request queues it again")
    default void dropped() throws Exception {
        provider().lifetime = Duration.ZERO;
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_REQUEST;
        outbox.deliverDue();
        assertThat(outbox.drop(outbox.listDead(0, 10).get(0).id(), "operator", "noise"))
                .isTrue();
        assertThat(history(KEY)).last(STRING).isEqualTo("1 UNKNOWN>UNKNOWN operator: dead letter dropped: noise");
        assertThat(rows()).isZero();
        store().resolve(List.of(new Resolution(KEY.entryId(), 1, State.RETRYABLE, null, "operator", "absent")));
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());
        assertThat(rows()).isEqualTo(1);
        provider().answer = Provider.Answer.CHARGE;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(provider().charges).hasSize(1);
    }

    @Test
    @DisplayName("W3 T3 what was charged reaches the business data even if the entry expires before that succeeds")
    default void expiredBeforeTheUpdate() throws Exception {
        Outbox outbox = outbox();
        provider().failing.add(1);
        provider().failing.add(2);
        accept(outbox, key(1));
        outbox.deliverDue();
        provider().lifetime = Duration.ZERO;
        provider().answer = Provider.Answer.LOSE_ANSWER;
        accept(outbox, key(2));
        outbox.deliverDue();
        byte[] found = Envelope.value(bytes("found"));
        store().resolve(List.of(
                new Resolution(key(1).entryId(), 1, State.COMPLETED, found, "reconciler", "found"),
                new Resolution(key(2).entryId(), 1, State.COMPLETED, found, "reconciler", "found")));
        clock().advance(Duration.ofMinutes(2));
        outbox.deliverDue();
        assertThat(payment(key(1))).isEqualTo("accepted");
        assertThat(payment(key(2))).isEqualTo("accepted");
        clock().advance(Duration.ofHours(25));
        provider().failing.clear();
        outbox.deliverDue();
        assertThat(payment(key(1))).isEqualTo("paid");
        assertThat(payment(key(2))).isEqualTo("paid");
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("W3 T3 the business hears of a call that was never made because its entry has expired")
    default void expiredBeforeTheCall() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.RETRYABLE);
        provider().answer = Provider.Answer.CHARGE;
        clock().advance(Duration.ofHours(25));
        outbox.deliverDue();
        assertThat(payment(KEY)).isEqualTo("failed");
        assertThat(provider().charges).isEmpty();
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("W3 an operator's retry of a dead letter that is being called does not cost the provider's answer")
    default void retriedDuringTheCall() throws Exception {
        provider().lifetime = Duration.ZERO;
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_REQUEST;
        outbox.deliverDue();
        long letter = outbox.listDead(0, 10).get(0).id();
        store().resolve(List.of(new Resolution(KEY.entryId(), 1, State.RETRYABLE, null, "operator", "absent")));
        clock().advance(Duration.ofMinutes(2));
        Outbox calling = builder()
                .handler("charge", new Provider() {
                    @Override
                    public Delivery deliver(OutboxRow row) {
                        outbox.retry(letter, "operator", "impatient");
                        outbox.deliverDue();
                        return super.deliver(row);
                    }
                })
                .build();
        assertThat(calling.deliverDue()).isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
    }

    @Test
    @DisplayName("A node that only accepts takes no rows")
    default void noHandlers() throws Exception {
        Outbox accepting = Outbox.of(once(store(), once -> {}));
        accept(accepting, KEY);
        assertThat(accepting.deliverDue()).isZero();
        accepting.close();
        assertThat(outbox().deliverDue()).isEqualTo(1);
    }

    @Test
    @DisplayName("S2 the audit has the whole way of a queued operation, and the operator's retry of its dead letter")
    default void audited() throws Exception {
        provider().lifetime = Duration.ZERO;
        Outbox outbox = builder(once -> once.node("worker")).build();
        accept(outbox, KEY);
        accept(outbox, KEY);
        assertThat(history(KEY)).containsExactly("0 null>PENDING worker: accepted");
        provider().answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        clock().advance(Duration.ofMinutes(1));
        provider().answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        long letter = outbox.listDead(0, 10).get(0).id();
        assertThat(outbox.retry(letter, "alice", "ticket 42")).isTrue();
        assertThat(outbox.retry(letter, "alice", "it is none any more")).isFalse();
        store().resolve(List.of(new Resolution(KEY.entryId(), 2, State.RETRYABLE, null, "bob", "not at the provider")));
        clock().advance(Duration.ofMinutes(2));
        provider().answer = Provider.Answer.CHARGE;
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
    default void notAudited() throws Exception {
        Outbox outbox = builder(once -> once.node("worker")).build();
        try (Connection tx = begin()) {
            outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("990"));
            tx.rollback();
        }
        assertThat(history(KEY)).isEmpty();
        accept(outbox, KEY);
        provider().failing.add(1);
        outbox.deliverDue();
        assertThat(history(KEY))
                .hasSize(3)
                .last(STRING)
                .startsWith("1 PROCESSING>UNKNOWN worker: the business update failed");
        provider().failing.clear();
        clock().advance(Duration.ofMinutes(1));
        outbox.deliverDue();
        assertThat(history(KEY)).hasSize(4).last(STRING).isEqualTo("1 UNKNOWN>COMPLETED worker: delivered");
    }

    private List<String> history(Key key) {
        return Claims.history(store(), key);
    }
}
