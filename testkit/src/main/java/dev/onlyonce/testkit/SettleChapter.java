package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Policy;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settling: the record, and who may write it. */
interface SettleChapter extends Chapter {

    @ParameterizedTest
    @DisplayName("R1 an owner settles its claim, once, with the state it says and the times it gets")
    @EnumSource(
            value = State.class,
            names = {"COMPLETED", "FAILED", "RETRYABLE", "UNKNOWN"})
    default void ownerSettles(State to) {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Entry before = bench().entry(request);
        bench().advance(Duration.ofSeconds(5));
        byte[] result = to.isAnswered() ? bytes("the answer") : null;
        Settled settled = bench().settled(request, to, result);

        Entry after = bench().entry(request);
        assertThat(after.state()).isEqualTo(to);
        assertThat(after.result()).isEqualTo(result);
        assertThat(after.settledAt()).isEqualTo(settled.settledAt());
        assertThat(after.expiresAt()).isEqualTo(settled.expiresAt());
        assertThat(settled.settledAt()).isBetween(before.readAt().plusSeconds(5), after.readAt());
        assertThat(settled.expiresAt())
                .isEqualTo(to == UNKNOWN ? null : settled.settledAt().plus(RETENTION));
        assertThat(after.token()).isEqualTo(request.token());
        assertThat(after.attempt()).isEqualTo(1);
        assertThat(after.createdAt()).isEqualTo(before.createdAt());
        assertThat(after.fingerprint()).isEqualTo(before.fingerprint());
    }

    @ParameterizedTest
    @DisplayName("C5 a settlement whose acknowledgement was lost answers the same again, with the same times")
    @EnumSource(
            value = State.class,
            names = {"COMPLETED", "FAILED", "RETRYABLE", "UNKNOWN"})
    default void lostAcknowledgementOfSettlement(State to) {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        byte[] result = to.isAnswered() ? bytes("the answer") : null;
        Settled first = bench().settled(request, to, result);
        Snapshot before = Snapshot.of(bench().entry(request));
        bench().advance(Duration.ofSeconds(90));
        assertThat(bench().settled(request, to, result)).isEqualTo(first);
        assertThat(bench().snapshot(request)).contains(before);
    }

    @ParameterizedTest
    @DisplayName("D2 one who has settled cannot settle otherwise, unless it was in doubt: lost, and nothing changes")
    @EnumSource(
            value = State.class,
            names = {"COMPLETED", "FAILED", "RETRYABLE", "UNKNOWN"})
    default void noSecondThoughts(State first) {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().settled(request, first, null);
        Snapshot before = Snapshot.of(bench().entry(request));
        for (State second : State.values()) {
            boolean testimony = first == UNKNOWN && first.canBecome(second);
            if (second != first && PROCESSING.canBecome(second) && !testimony) {
                assertThat(bench().settle(request, second, null)).isEqualTo(new Lost(first));
                assertThat(bench().snapshot(request)).contains(before);
            }
        }
    }

    @Test
    @DisplayName("R1 a repeated settlement with other bytes does not replace the first ones")
    default void firstResultStays() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Settled first = bench().settled(request, COMPLETED, bytes("first"));
        assertThat(bench().settled(request, COMPLETED, bytes("second"))).isEqualTo(first);
        assertThat(bench().entry(request).result()).isEqualTo(bytes("first"));
    }

    @Test
    @DisplayName("D13 D2 an owner whose lease lapsed but who was not swept can still settle: its claim stands")
    default void lateButNotLost() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advance(LEASE.multipliedBy(3));
        bench().settled(request, COMPLETED, bytes("late"));
        assertThat(bench().node().sweep(10)).isEmpty();
        assertThat(bench().entry(request).result()).isEqualTo(bytes("late"));
    }

    @ParameterizedTest
    @DisplayName(
            "D23 an owner that comes back with a result, while its swept entry is unknown, settles it, and the audit says so")
    @EnumSource(
            value = State.class,
            names = {"COMPLETED", "RETRYABLE"})
    default void testimony(State to) {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advance(LEASE);
        assertThat(bench().node().sweep(10)).hasSize(1);
        assertThat(bench().renew(request, LEASE)).isFalse();

        byte[] result = to == COMPLETED ? bytes("testimony") : null;
        Settled settled = bench().settled(request, to, result);
        assertThat(bench().entry(request).state()).isEqualTo(to);
        assertThat(bench().entry(request).result()).isEqualTo(result);
        assertThat(bench().settled(request, to, result)).isEqualTo(settled);
        List<AuditRecord> history = bench().node().history(request.id());
        Transition last = history.get(history.size() - 1).transition();
        assertThat(last)
                .isEqualTo(
                        new Transition(request.id(), request.operation(), UNKNOWN, to, 1, request.owner(), last.why()));
        assertThat(last.why()).startsWith("its owner came back: ");
    }

    @ParameterizedTest
    @DisplayName("D23 D2 an owner that comes back without a result changes nothing")
    @EnumSource(
            value = State.class,
            names = {"FAILED", "UNKNOWN"})
    default void nothingToTell(State to) {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advance(LEASE);
        assertThat(bench().node().sweep(10)).hasSize(1);
        Snapshot before = Snapshot.of(bench().entry(request));

        SettleResult answer = bench().settle(request, to, to.isAnswered() ? bytes("zombie") : null);
        assertThat(answer)
                .isEqualTo(to == UNKNOWN ? new Settled(requireNonNull(before.settledAt()), null) : new Lost(UNKNOWN));
        assertThat(bench().renew(request, LEASE)).isFalse();
        assertThat(bench().snapshot(request)).contains(before);
    }

    @Test
    @DisplayName("D23 D15 only the last attempt is heard, and nobody after an eviction")
    default void oldTestimony() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().advance(LEASE);
        bench().node().sweep(10);
        assertThat(bench().resolve(first, 1, RETRYABLE, null)).isInstanceOf(Settled.class);
        ClaimRequest second = rival(first);
        bench().claimed(second);
        bench().advance(LEASE);
        bench().node().sweep(10);
        Snapshot before = Snapshot.of(bench().entry(second));
        assertThat(bench().settle(first, COMPLETED, bytes("zombie"))).isEqualTo(new Lost(UNKNOWN));
        assertThat(bench().snapshot(second)).contains(before);

        bench().settled(second, COMPLETED, bytes("testimony"));
        assertThat(bench().node().evict(second.id(), "alice", "test")).isPresent();
        ClaimRequest third = rival(first);
        bench().claimed(third);
        bench().settled(third, UNKNOWN, null);
        Snapshot again = Snapshot.of(bench().entry(third));
        for (ClaimRequest old : List.of(first, second)) {
            assertThat(bench().settle(old, COMPLETED, bytes("zombie"))).isEqualTo(new Lost(UNKNOWN));
        }
        assertThat(bench().snapshot(third)).contains(again);
    }

    @Test
    @DisplayName("D2 an owner whose entry was swept and claimed by another learns so and changes nothing")
    default void overtakenOwner() {
        ClaimRequest old = on(Requests.RETRIED, fresh("key"));
        bench().claimed(old);
        bench().advance(LEASE);
        assertThat(bench().node().sweep(10)).hasSize(1);
        ClaimRequest next = rival(old);
        assertThat(bench().claimed(next)).isEqualTo(2);
        Snapshot before = Snapshot.of(bench().entry(next));

        assertThat(bench().settle(old, COMPLETED, bytes("zombie"))).isEqualTo(new Lost(PROCESSING));
        assertThat(bench().renew(old, LEASE)).isFalse();
        assertThat(bench().snapshot(next)).contains(before);

        bench().settled(next, COMPLETED, bytes("rightful"));
        Snapshot answered = Snapshot.of(bench().entry(next));
        assertThat(bench().settle(old, COMPLETED, bytes("zombie"))).isEqualTo(new Lost(COMPLETED));
        assertThat(bench().snapshot(next)).contains(answered);
    }

    @Test
    @DisplayName("D2 a zombie that wakes after sweep and resolution gets no \"settled\" for what it did not record")
    default void zombieAfterResolution() {
        ClaimRequest zombie = fresh("key");
        bench().claimed(zombie);
        bench().advance(LEASE);
        bench().node().sweep(10);
        assertThat(bench().resolve(zombie, 1, COMPLETED, bytes("found"))).isInstanceOf(Settled.class);
        Snapshot before = Snapshot.of(bench().entry(zombie));
        assertThat(before.token()).isNull();

        assertThat(bench().settle(zombie, COMPLETED, bytes("zombie"))).isEqualTo(new Lost(COMPLETED));
        assertThat(bench().renew(zombie, LEASE)).isFalse();
        assertThat(bench().snapshot(zombie)).contains(before);
    }

    @Test
    @DisplayName("D2 an owner that settled as unknown is fenced out by the resolution too")
    default void ownUnknownResolved() {
        ClaimRequest owner = fresh("key");
        bench().claimed(owner);
        bench().settled(owner, UNKNOWN, null);
        bench().resolve(owner, 1, RETRYABLE, null);
        assertThat(bench().settle(owner, RETRYABLE, null)).isEqualTo(new Lost(RETRYABLE));
        assertThat(bench().settle(owner, UNKNOWN, null)).isEqualTo(new Lost(RETRYABLE));
    }

    @Test
    @DisplayName("D2 nobody settles with a token that was never claimed")
    default void stranger() {
        ClaimRequest owner = fresh("key");
        bench().claimed(owner);
        Snapshot before = Snapshot.of(bench().entry(owner));
        assertThat(bench().settle(rival(owner), COMPLETED, bytes("forged"))).isEqualTo(new Lost(PROCESSING));
        assertThat(bench().snapshot(owner)).contains(before);

        ClaimRequest absent = fresh("absent");
        assertThat(bench().settle(absent, COMPLETED, bytes("forged"))).isEqualTo(new Lost(null));
        assertThat(bench().find(absent)).isEmpty();
    }

    @Test
    @DisplayName("D2 the token of one entry settles no other")
    default void tokenOfAnotherEntry() {
        ClaimRequest mine = fresh("mine");
        ClaimRequest theirs = fresh("theirs");
        bench().claimed(mine);
        bench().claimed(theirs);
        SettleResult answer =
                bench().settle(new Settlement(theirs.id(), mine.token(), COMPLETED, bytes("mine"), "crossed"));
        assertThat(answer).isEqualTo(new Lost(PROCESSING));
        assertThat(bench().entry(theirs).result()).isNull();
    }

    @ParameterizedTest
    @DisplayName("R1 results of any length that the store keeps come back byte for byte")
    @ValueSource(ints = {0, 1, 255, 256, 65_535, 65_536, 1_048_576})
    default void resultOfLength(int upTo) {
        int length = Math.min(upTo, resultBytesKept());
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        byte[] result = new byte[length];
        new Random(length).nextBytes(result);
        bench().settled(request, COMPLETED, result.clone());
        assertThat(bench().entry(request).result()).isEqualTo(result);
        assertThat(bench().refused(rival(request)).result()).isEqualTo(result);
    }

    @Test
    @DisplayName("R1 a result of exactly the documented limit is kept, with what the engine puts around it")
    default void largestResult() {
        int limit = Math.min(
                resultBytesKept(), Math.min(bench().node().limits().resultBytesMax(), Policy.RESULT_BYTES_MAX));
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        byte[] value = new byte[limit];
        new Random(limit).nextBytes(value);
        byte[] result = Envelope.value(value);
        settleLarge(request, result);
        assertThat(Arrays.equals(bench().entry(request).result(), result)).isTrue();
        assertThat(Arrays.equals(bench().refused(rival(request)).result(), result))
                .isTrue();
    }

    /** Repeats it, as the engine does: on a busy machine so many bytes may take longer than a store waits. */
    private void settleLarge(ClaimRequest request, byte[] result) {
        int repeatsMax = 5;
        for (int repeats = 0; ; repeats++) {
            try {
                bench().settled(request, COMPLETED, result.clone());
                return;
            } catch (StoreOutcomeUnknown | StoreBusy e) {
                if (repeats == repeatsMax) {
                    throw e;
                }
            }
        }
    }

    @Test
    @DisplayName("R1 every byte value comes back as it was")
    default void everyByteValue() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        byte[] result = new byte[512];
        for (int i = 0; i < result.length; i++) {
            result[i] = (byte) i;
        }
        bench().settled(request, FAILED, result.clone());
        assertThat(bench().entry(request).result()).isEqualTo(result);
    }

    @Test
    @DisplayName("R1 no result is not an empty result")
    default void noResult() {
        ClaimRequest none = fresh("none");
        ClaimRequest empty = fresh("empty");
        bench().claimed(none);
        bench().claimed(empty);
        bench().settled(none, COMPLETED, null);
        bench().settled(empty, COMPLETED, new byte[0]);
        assertThat(bench().entry(none).result()).isNull();
        assertThat(bench().entry(empty).result()).isNotNull().isEmpty();
    }

    @Test
    @DisplayName("D1 no reason given for a settlement can make it fail")
    default void strangeReasons() {
        String[] reasons = {"", "x".repeat(100_000), "a\0b", "half \ud83d", "\"'\\%;--", "日本 😀\r\n\t\u001b"};
        for (int i = 0; i < reasons.length; i++) {
            ClaimRequest request = fresh("key-" + i);
            bench().claimed(request);
            assertThat(bench().settle(Requests.settlement(request, UNKNOWN, null, reasons[i])))
                    .isInstanceOf(Settled.class);
        }
    }
}
