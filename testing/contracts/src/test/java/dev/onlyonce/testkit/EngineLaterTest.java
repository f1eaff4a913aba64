package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Ending;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The engine for callers that do not block: how it handles the store's answers, and when it needs a thread that may block. */
class EngineLaterTest {
    private static final Key KEY = Key.of("acme", "POST /payments", "k-1");
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Policy POLICY = Policy.standard();
    private static final Policy WAITING =
            Policy.builder().waitMax(Duration.ofMinutes(1)).build();
    /** Nothing may be handed to it. */
    private static final Executor NOBODY = task -> {
        throw new RejectedExecutionException("nobody is there");
    };

    private final Time time = Time.system();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = Onlyonce.builder(store)
            .time(time)
            .lease(Duration.ofSeconds(6))
            .cacheBytesMax(0)
            .build();
    private final BlockingQueue<Runnable> handedOver = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
    }

    private CompletionStage<Begun> begin(Policy policy, Executor blocking) {
        return once.registry().claim(KEY, PRINT, policy, blocking);
    }

    private OpenClaim claim() {
        return ((Begun.Claimed) CallStyle.join(begin(POLICY, NOBODY))).claim();
    }

    private Outcome<byte[]> outcome(CompletionStage<Begun> begun) {
        return ((Begun.Answered) CallStyle.join(begun)).outcome();
    }

    private State state() {
        // Past the engine, which keeps off a store that failed a moment ago.
        return store.find(List.of(KEY.entryId())).get(0).orElseThrow().state();
    }

    @Test
    @DisplayName("the usual way needs no thread of the caller's: claim, record, replay, mismatch, in flight")
    void usual() {
        OpenClaim claim = claim();
        assertThat(claim.attempt()).isEqualTo(1);
        assertThat(outcome(begin(POLICY, NOBODY))).isInstanceOf(Outcome.InFlight.class);
        assertThat(CallStyle.join(claim.settle(new Ending.Completed(Requests.bytes("paid")), NOBODY)))
                .isInstanceOf(SettleResult.Settled.class);
        assertThat(outcome(begin(POLICY, NOBODY)))
                .isInstanceOfSatisfying(
                        Outcome.Replayed.class,
                        replayed -> assertThat(replayed.value()).isEqualTo(Requests.bytes("paid")));
        assertThat(outcome(once.registry().claim(KEY, Requests.fingerprint("20 EUR"), POLICY, NOBODY)))
                .isInstanceOf(Outcome.Mismatched.class);
        assertThat(once.liveClaims()).isZero();
    }

    @Test
    @DisplayName("every ending leaves the entry in its state")
    void endings() {
        List<Ending> endings = List.of(
                new Ending.Retryable("refused"),
                new Ending.Failed(new Failure("declined", "The card was declined")),
                new Ending.Unknown("no answer"),
                new Ending.CompletedWithoutResult());
        List<State> states = new ArrayList<>();
        for (int i = 0; i < endings.size(); i++) {
            Key key = Key.of("acme", "POST /payments", "e-" + i);
            Begun begun = CallStyle.join(once.registry().claim(key, PRINT, POLICY, NOBODY));
            CallStyle.join(((Begun.Claimed) begun).claim().settle(endings.get(i), NOBODY));
            states.add(once.find(key).orElseThrow().state());
        }
        assertThat(states).containsExactly(State.RETRYABLE, State.FAILED, State.UNKNOWN, State.COMPLETED);
    }

    @Test
    @DisplayName("a claim is settled once, whichever way")
    void once() {
        OpenClaim claim = claim();
        CallStyle.join(claim.settle(new Ending.Completed(new byte[0]), NOBODY));
        assertThatThrownBy(() -> claim.settle(new Ending.Unknown("again"), NOBODY))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> claim.unknown("again")).isInstanceOf(IllegalStateException.class);
        assertThat(state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("C3 a duplicate that may wait is handed over, and answered when the running one has ended")
    void waits() throws Exception {
        OpenClaim claim = claim();
        CompletableFuture<Begun> duplicate = begin(WAITING, handedOver::add).toCompletableFuture();
        Thread waiting = new Thread(handedOver.take());
        waiting.start();
        assertThat(duplicate).isNotDone();
        CallStyle.join(claim.settle(new Ending.Completed(Requests.bytes("paid")), NOBODY));
        assertThat(outcome(duplicate)).isInstanceOf(Outcome.Replayed.class);
        waiting.join();
    }

    @Test
    @DisplayName("D5 what was released is claimed again, which needs no thread that blocks")
    void released() {
        CallStyle.join(claim().settle(new Ending.Retryable("refused"), NOBODY));
        assertThat(claim().attempt()).isEqualTo(2);
    }

    @Test
    @DisplayName("a duplicate that nobody can wait for is refused, and the running one goes on")
    void nobodyWaits() {
        OpenClaim claim = claim();
        assertThatThrownBy(() -> CallStyle.join(begin(WAITING, NOBODY))).isInstanceOf(StoreUnavailable.class);
        assertThat(CallStyle.join(claim.settle(new Ending.Completed(new byte[0]), NOBODY)))
                .isInstanceOf(SettleResult.Settled.class);
    }

    @Test
    @DisplayName("D9 a store that is down refuses a claim without a thread that blocks; nothing runs")
    void down() {
        store.failAt(Verb.CLAIM, 1, Fault.BEFORE);
        assertThatThrownBy(this::claim).isInstanceOf(StoreUnavailable.class);
    }

    @Test
    @DisplayName("a busy row is in flight")
    void busy() {
        store.failAt(Verb.CLAIM, 1, Fault.BUSY);
        assertThat(outcome(begin(POLICY, NOBODY))).isInstanceOf(Outcome.InFlight.class);
    }

    @Test
    @DisplayName(
            "R3 D12 a record that the store does not take is tried again until it does, whether or not somebody waits")
    void recordedLater() throws Exception {
        OpenClaim claim = claim();
        store.failAt(Verb.SETTLE, 1, Fault.BEFORE);
        CompletableFuture<SettleResult> settled =
                claim.settle(new Ending.Completed(new byte[0]), handedOver::add).toCompletableFuture();
        Runnable wait = handedOver.take();
        // Whether or not somebody waits.
        while (state() == State.PROCESSING) {
            Thread.onSpinWait();
        }
        assertThat(settled).isNotDone();
        wait.run();
        assertThat(settled.join()).isInstanceOf(SettleResult.Settled.class);
        assertThat(state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName(
            "R3 without a thread that may wait the caller learns that it is not recorded; it is, in the background")
    void recordedInTheBackground() {
        OpenClaim claim = claim();
        store.failAt(Verb.SETTLE, 1, Fault.BEFORE);
        assertThatThrownBy(() -> CallStyle.join(claim.settle(new Ending.Completed(new byte[0]), NOBODY)))
                .isInstanceOf(StoreOutcomeUnknown.class);
        while (state() == State.PROCESSING) {
            Thread.onSpinWait();
        }
        assertThat(state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("a claim that is held when the node is closed can still be settled")
    void closed() {
        OpenClaim claim = claim();
        once.close();
        assertThat(CallStyle.join(claim.settle(new Ending.Completed(new byte[0]), NOBODY)))
                .isInstanceOf(SettleResult.Settled.class);
    }
}
