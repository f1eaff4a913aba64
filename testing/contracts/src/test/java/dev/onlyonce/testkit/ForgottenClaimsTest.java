package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Ending;
import dev.onlyonce.FailureRule;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Claims that nobody would settle, on a node that lives on: each must end. */
class ForgottenClaimsTest {
    private static final Key KEY = Key.of("acme", "POST /payments", "k-1");
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration HELD_MAX = Duration.ofMinutes(10);
    /** A lease and a sweep, and far less than a claim may be held. */
    private static final Duration SOON = LEASE.multipliedBy(2);

    private final ManualTime time = new ManualTime();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = node(FailureRule.standard());

    private Onlyonce node(FailureRule failures) {
        return Onlyonce.builder(store)
                .time(time.alone())
                .lease(LEASE)
                .heldMax(HELD_MAX)
                .failures(failures)
                .cacheBytesMax(0)
                .listener(event -> {
                    throw new StackOverflowError("a listener that breaks at everything");
                })
                .build();
    }

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
    }

    private OpenClaim claim() {
        return ((Begun.Claimed) once.begin(KEY, PRINT)).claim();
    }

    private State state() {
        return store.find(List.of(KEY.entryId())).get(0).orElseThrow().state();
    }

    /** Has ended, in this state, and the node has forgotten it. */
    private void ended(State state) {
        time.advance(SOON);
        assertThat(state()).isEqualTo(state);
        assertThat(once.liveClaims()).isZero();
    }

    @Test
    @DisplayName(
            "D12 a claim that its holder never settles ends when it has been held for too long, and its holder learns so")
    void neverSettled() throws InterruptedException {
        OpenClaim claim = claim();
        CountDownLatch told = new CountDownLatch(1);
        claim.onLost(told::countDown);
        time.advance(HELD_MAX);
        assertThat(state()).as("heartbeats keep it until then").isEqualTo(State.PROCESSING);
        assertThat(claim.isHeld()).isTrue();
        ended(State.UNKNOWN);
        assertThat(told.await(1, TimeUnit.MINUTES))
                .as("callbacks have threads of their own")
                .isTrue();
        assertThat(claim.isHeld()).isFalse();
    }

    @Test
    @DisplayName("D12 a claim held too long ends although its own callback breaks")
    void callbackBreaks() {
        claim().onLost(() -> {
            throw new StackOverflowError("planted");
        });
        time.advance(HELD_MAX);
        ended(State.UNKNOWN);
    }

    @Test
    @DisplayName("D12 a late settlement that the store rejects does not keep the claim: the lease lapses")
    void rejectedLate() {
        OpenClaim claim = claim();
        store.failAlways(Verb.SETTLE, Fault.BEFORE);
        assertThatThrownBy(() -> claim.complete(Requests.bytes("paid"))).isInstanceOf(StoreOutcomeUnknown.class);
        store.failAlways(Verb.SETTLE, Fault.REJECTED);
        ended(State.UNKNOWN);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"ERROR", "ERROR_AFTER"})
    @DisplayName("D12 an Error in the store while it records does not strand the effect: it is recorded")
    void errorWhileRecording(Fault fault) {
        OpenClaim claim = claim();
        store.failAt(Verb.SETTLE, 1, fault);
        claim.complete(Requests.bytes("paid"));
        ended(State.COMPLETED);
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName("D12 a store that breaks on every record for a minute strands nothing")
    void breaksForAWhile(CallStyle style) {
        store.failAlways(Verb.SETTLE, Fault.ERROR);
        assertThatThrownBy(() -> style.execute(once, KEY, PRINT, claim -> "paid"))
                .isInstanceOf(StoreOutcomeUnknown.class);
        time.advance(Duration.ofMinutes(1));
        store.heal();
        ended(State.COMPLETED);
    }

    @Test
    @DisplayName(
            "D12 an Error from the codec: the effect is recorded without its result, and the caller sees the Error")
    void codecBreaks() {
        Codec<String> breaking = new Codec<>() {
            @Override
            public byte[] encode(String value) {
                throw new StackOverflowError("planted");
            }

            @Override
            public String decode(byte[] bytes) {
                return "";
            }
        };
        assertThatThrownBy(() -> once.execute(KEY, PRINT, breaking, claim -> "paid"))
                .isInstanceOf(StackOverflowError.class);
        assertThat(state()).isEqualTo(State.COMPLETED);
        ended(State.COMPLETED);
    }

    @Test
    @DisplayName("D12 a failure rule that breaks proves nothing: unknown, and the caller sees the action's exception")
    void ruleBreaks() {
        IllegalStateException thrown = new IllegalStateException("no answer");
        FailureRule breaking = failure -> {
            throw new StackOverflowError("planted");
        };
        FailureRule rethrowing = failure -> {
            throw thrown;
        };
        FailureRule unrecordable =
                failure -> new FailureRule.Verdict.Final(new Failure("declined", "x".repeat(1 << 25)));
        int i = 0;
        for (FailureRule rule : List.of(breaking, rethrowing, unrecordable)) {
            Key key = Key.of("acme", "POST /payments", "rule-" + i++);
            try (Onlyonce node = node(rule)) {
                assertThatThrownBy(() -> node.execute(key, PRINT, Codec.text(), claim -> {
                            throw thrown;
                        }))
                        .isSameAs(thrown);
                time.advance(SOON);
                assertThat(store.find(List.of(key.entryId()))
                                .get(0)
                                .orElseThrow()
                                .state())
                        .isIn(State.UNKNOWN, State.FAILED);
                assertThat(node.liveClaims()).isZero();
            }
        }
    }

    @Test
    @DisplayName("D12 a claim whose caller gave up its future is released: the action did not run")
    void givenUp() throws InterruptedException {
        store.failAt(Verb.CLAIM, 1, Fault.HANGS);
        CompletableFuture<Begun> begun = once.registry()
                .claim(KEY, PRINT, Policy.standard(), task -> task.run())
                .toCompletableFuture();
        store.untilHanging(1);
        assertThat(begun.cancel(true)).isTrue();
        store.release();
        while (store.find(List.of(KEY.entryId())).get(0).isEmpty()
                || state() == State.PROCESSING
                || once.liveClaims() > 0) {
            Thread.onSpinWait();
        }
        ended(State.RETRYABLE);
    }

    @Test
    @DisplayName("D12 a duplicate whose caller gave up while it waited claims nothing")
    void givenUpWhileWaiting() throws InterruptedException {
        OpenClaim running = claim();
        BlockingQueue<Runnable> handedOver = new LinkedBlockingQueue<>();
        Policy waiting = Policy.builder().waitMax(Duration.ofSeconds(1)).build();
        CompletableFuture<Begun> duplicate =
                once.registry().claim(KEY, PRINT, waiting, handedOver::add).toCompletableFuture();
        Runnable wait = handedOver.take();
        duplicate.cancel(true);
        running.retryable("refused");
        wait.run();
        ended(State.RETRYABLE);
        assertThat(once.find(KEY).orElseThrow().attempt()).isEqualTo(1);
    }

    @Test
    @DisplayName("D12 an executor that breaks, or drops its tasks, costs no record")
    void executorBreaks() {
        Executor breaking = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        OpenClaim claim = claim();
        store.failAt(Verb.SETTLE, 1, Fault.BEFORE);
        assertThatThrownBy(() -> CallStyle.join(claim.settle(new Ending.Completed(new byte[0]), breaking)))
                .isInstanceOf(StoreOutcomeUnknown.class);
        ended(State.COMPLETED);
    }

    @Test
    @DisplayName("R1 the first node to ask about an operation gets a short Retry-After, not the lease")
    void retryAfter() {
        claim();
        Outcome<String> outcome = once.execute(KEY, PRINT, Codec.text(), claim -> "paid again");
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.InFlight.class,
                        inFlight -> assertThat(inFlight.retryAfter()).isLessThanOrEqualTo(Duration.ofSeconds(1)));
    }
}
