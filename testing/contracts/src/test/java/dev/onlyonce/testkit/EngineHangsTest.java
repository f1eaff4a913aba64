package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The engine on a store that does not answer. */
class EngineHangsTest {
    /** How many calls group commit has under way at once. */
    private static final int LANES = 2;

    private final Time time = Time.system();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = Onlyonce.builder(store)
            .time(time)
            .storeWaitMax(Duration.ofSeconds(1))
            .lease(Duration.ofSeconds(6))
            .build();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger effects = new AtomicInteger();

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
        threads.shutdownNow();
    }

    private Outcome<String> pay(CallStyle style, String key) {
        return pay(once, style, key);
    }

    private Outcome<String> pay(Onlyonce node, CallStyle style, String key) {
        return style.execute(
                node,
                Key.of("acme", "POST /payments", key),
                Requests.fingerprint("10 EUR"),
                claim -> "paid " + effects.incrementAndGet());
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HANGS", "HANGS_BEFORE", "HANGS_AFTER"})
    @DisplayName("D9 while the store hangs others are refused within a bound and run nothing; then all goes on")
    void hangs(Fault fault) throws Exception {
        for (int call = 1; call <= LANES; call++) {
            store.failAt(Verb.CLAIM, call, fault);
        }
        List<Future<Outcome<String>>> stuck = List.of(
                threads.submit(() -> pay(CallStyle.BLOCKING, "first")),
                threads.submit(() -> pay(CallStyle.BLOCKING, "second")));
        store.untilHanging(LANES);

        assertThatThrownBy(() -> pay(CallStyle.BLOCKING, "third")).isInstanceOf(StoreUnavailable.class);
        assertThatThrownBy(() -> pay(CallStyle.ASYNC, "fourth")).isInstanceOf(StoreUnavailable.class);
        assertThat(effects).hasValue(0);

        store.release();
        for (Future<Outcome<String>> future : stuck) {
            if (fault != Fault.HANGS) {
                // Not tried again: the callers have waited for as long as they may.
                assertThatThrownBy(() -> future.get(60, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(StoreUnavailable.class);
            } else {
                assertThat(future.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            }
        }
        assertThat(effects).hasValue(fault == Fault.HANGS ? LANES : 0);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HANGS", "HANGS_BEFORE", "HANGS_AFTER"})
    @DisplayName(
            "D9 who does not block is refused within a bound when its claim hangs; it runs nothing and leaves no claim")
    void claimHangs(Fault fault) throws Exception {
        store.failAt(Verb.CLAIM, 1, fault);
        assertThatThrownBy(() -> pay(CallStyle.ASYNC, "first"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("could not be confirmed");
        assertThat(effects).hasValue(0);
        store.release();
        assertThat(payWhenWell("first")).isInstanceOf(Outcome.Executed.class);
        assertThat(effects).hasValue(1);
    }

    /** The engine keeps off a store that failed a moment ago, and a claim that was not confirmed is released by a heartbeat. */
    private Outcome<String> payWhenWell(String key) {
        while (true) {
            try {
                Outcome<String> outcome = pay(CallStyle.ASYNC, key);
                if (!(outcome instanceof Outcome.InFlight)) {
                    return outcome;
                }
            } catch (StoreUnavailable e) {
                assertThat(effects).hasValue(0);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HANGS", "HANGS_BEFORE", "HANGS_AFTER"})
    @DisplayName(
            "R3 a caller that does not block learns within a bound that its record hangs; it is recorded when the store goes on")
    void recordHangs(Fault fault) throws Exception {
        store.failAt(Verb.SETTLE, 1, fault);
        Future<Outcome<String>> paying = threads.submit(() -> pay(CallStyle.ASYNC, "first"));
        store.untilHanging(1);
        assertThat(paying.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
        assertThat(pay(CallStyle.ASYNC, "first")).isInstanceOf(Outcome.Replayed.class);
        assertThat(effects).hasValue(1);
        store.release();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HANGS", "HANGS_BEFORE", "HANGS_AFTER"})
    @DisplayName("D11 D3 a heartbeat that hangs on a dead connection costs no claim its lease: the next one goes on")
    void heartbeatHangs(Fault fault) throws Exception {
        Duration lease = Duration.ofSeconds(2);
        try (Onlyonce node = Onlyonce.builder(store).time(time).lease(lease).build()) {
            Key key = Key.of("acme", "POST /payments", "long");
            store.failAt(Verb.RENEW, 1, fault);
            Outcome<String> outcome = node.execute(key, Requests.fingerprint("10 EUR"), Codec.text(), claim -> {
                CompletableFuture<Void> lost = new CompletableFuture<>();
                claim.onLost(() -> lost.complete(null));
                store.untilHanging(1);
                assertThat(time.await(lost, lease.multipliedBy(2))).isFalse();
                assertThat(claim.isHeld()).isTrue();
                return "paid";
            });
            assertThat(outcome).isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    @DisplayName("D11 claims whose callers gave up, on rows that somebody holds, keep no neighbour waiting")
    void givenUp() throws Exception {
        AtomicInteger refused = new AtomicInteger();
        // As soon as one of these is claimed, somebody else holds its row: it cannot be released.
        Store held = new ForwardingStore(store) {
            @Override
            public List<SettleResult> settle(List<Settlement> settlements) {
                if (settlements.stream().anyMatch(s -> s.id().key().startsWith("given-up-"))) {
                    refused.incrementAndGet();
                    throw new StoreBusy("planted", null);
                }
                return super.settle(settlements);
            }
        };
        try (Onlyonce node = Onlyonce.builder(held)
                .time(time)
                .storeWaitMax(Duration.ofSeconds(1))
                .lease(Duration.ofSeconds(6))
                .build()) {
            for (int i = 1; i <= LANES; i++) {
                Key key = Key.of("acme", "POST /payments", "given-up-" + i);
                store.failAt(Verb.CLAIM, store.calls(Verb.CLAIM) + 1, Fault.HANGS);
                CompletableFuture<Begun> begun = node.registry()
                        .claim(
                                key,
                                Requests.fingerprint("10 EUR"),
                                node.registry().policy(key.operation()),
                                threads)
                        .toCompletableFuture();
                store.untilHanging(1);
                begun.cancel(false);
                int before = refused.get();
                store.release();
                while (refused.get() == before) {
                    Thread.onSpinWait();
                }
            }
            long begun = time.nanos();
            assertThat(pay(node, CallStyle.ASYNC, "neighbour")).isInstanceOf(Outcome.Executed.class);
            assertThat(Duration.ofNanos(time.nanos() - begun)).isLessThan(Duration.ofSeconds(1));
        }
    }
}
