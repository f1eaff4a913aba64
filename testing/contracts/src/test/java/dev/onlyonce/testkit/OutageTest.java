package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Outages longer than leases, and answers that come after the lease has lapsed. */
class OutageTest {
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int MANY = 600;

    private final ManualTime time = new ManualTime();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = node(OnLeaseLost.UNKNOWN);

    private Onlyonce node(OnLeaseLost policy) {
        return Onlyonce.builder(store)
                .time(time.alone())
                .lease(LEASE)
                .onLeaseLost(policy)
                .cacheBytesMax(0)
                .build();
    }

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
    }

    private static Key key(int i) {
        return Key.of("acme", "POST /payments", "k-" + i);
    }

    private State state(Key key) {
        return store.find(List.of(key.entryId())).get(0).map(Entry::state).orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BEFORE", "LOST"})
    @DisplayName("D13 results known before an outage of many leases are all recorded after it, in few calls")
    void knownResults(Fault fault) {
        List<OpenClaim> claims = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            claims.add(((Begun.Claimed) once.begin(key(i), PRINT)).claim());
        }
        store.failAlways(fault);
        // Each of these waits for five seconds: they go on in the background, and an interrupt ends the wait.
        for (OpenClaim claim : claims) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> claim.complete(Requests.bytes("paid"))).isInstanceOf(StoreOutcomeUnknown.class);
            assertThat(Thread.interrupted()).isTrue();
        }
        time.advance(LEASE.multipliedBy(20));
        store.heal();
        int calls = store.calls(Verb.SETTLE);
        time.advance(Duration.ofSeconds(10));
        for (int i = 0; i < MANY; i++) {
            assertThat(state(key(i))).isEqualTo(State.COMPLETED);
        }
        assertThat(store.calls(Verb.SETTLE) - calls).isLessThan(20);
        assertThat(once.liveClaims()).isZero();
    }

    @Test
    @DisplayName("D13 a sweep of one's own does not make unknown what the node knows")
    void ownSweep() {
        OpenClaim claim = ((Begun.Claimed) once.begin(key(1), PRINT)).claim();
        store.failAlways(Fault.BEFORE);
        assertThatThrownBy(() -> claim.complete(Requests.bytes("paid"))).isInstanceOf(StoreOutcomeUnknown.class);
        time.advance(LEASE.multipliedBy(2));
        store.heal();
        once.operator().sweep();
        assertThat(state(key(1))).isEqualTo(State.COMPLETED);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"BEFORE", "LOST"})
    @DisplayName("D13 a sweep of one's own waits when what the node knows meets a connection that died in the outage")
    void ownSweepAfterADeadConnection(Fault fault) {
        List<OpenClaim> claims = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            claims.add(((Begun.Claimed) once.begin(key(i), PRINT)).claim());
        }
        store.failAlways(Fault.BEFORE);
        for (OpenClaim claim : claims) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> claim.complete(Requests.bytes("paid"))).isInstanceOf(StoreOutcomeUnknown.class);
            assertThat(Thread.interrupted()).isTrue();
        }
        time.advance(LEASE.multipliedBy(2));
        store.heal();
        store.failAt(Verb.SETTLE, store.calls(Verb.SETTLE) + 1, fault);
        once.operator().sweep();
        time.advance(Duration.ofSeconds(10));
        for (int i = 0; i < MANY; i++) {
            assertThat(state(key(i))).isEqualTo(State.COMPLETED);
        }
    }

    @Test
    @DisplayName("D1 a settlement that the store never answers delays the sweeps of its node, but does not stop them")
    void sweepsInTheEnd() {
        OpenClaim stuck = ((Begun.Claimed) once.begin(key(1), PRINT)).claim();
        store.failAlways(Verb.SETTLE, Fault.LOST);
        assertThatThrownBy(() -> stuck.complete(Requests.bytes("paid"))).isInstanceOf(StoreOutcomeUnknown.class);
        store.failAlways(Verb.RENEW, Fault.BEFORE);
        time.advance(LEASE.multipliedBy(2));
        assertThat(state(key(1))).isEqualTo(State.UNKNOWN);
    }

    @Test
    @DisplayName("D13 D2 what somebody else has decided meanwhile stands")
    void decidedMeanwhile() {
        sweptWhileSettling();
        assertThat(store.resolve(List.of(
                        new Resolution(key(1).entryId(), 1, State.RETRYABLE, null, "alice", "not at the provider"))))
                .hasOnlyElementsOfType(SettleResult.Settled.class);
        store.heal();
        time.advance(LEASE);
        assertThat(state(key(1))).isEqualTo(State.RETRYABLE);
        assertThat(once.liveClaims()).isZero();
    }

    @Test
    @DisplayName("D13 D23 what nobody has decided meanwhile is settled by the owner that knows")
    void undecided() {
        sweptWhileSettling();
        store.heal();
        time.advance(LEASE);
        assertThat(state(key(1))).isEqualTo(State.COMPLETED);
        assertThat(once.liveClaims()).isZero();
    }

    private void sweptWhileSettling() {
        OpenClaim claim = ((Begun.Claimed) once.begin(key(1), PRINT)).claim();
        store.failAlways(Verb.SETTLE, Fault.BEFORE);
        store.failAlways(Verb.RENEW, Fault.BEFORE);
        assertThatThrownBy(() -> claim.complete(Requests.bytes("paid"))).isInstanceOf(StoreOutcomeUnknown.class);
        time.advance(LEASE.multipliedBy(2));
        assertThat(state(key(1))).as("swept").isEqualTo(State.UNKNOWN);
    }

    @Test
    @DisplayName("D13 D5 a claim that was never confirmed is released after an outage of many leases: nothing ran")
    void unconfirmed() {
        for (int call = 1; call <= 3; call++) {
            store.failAt(Verb.CLAIM, call, Fault.AFTER);
        }
        store.failAlways(Verb.SETTLE, Fault.BEFORE);
        store.failAlways(Verb.SWEEP, Fault.BEFORE);
        assertThatThrownBy(() -> once.begin(key(1), PRINT)).isInstanceOf(StoreUnavailable.class);
        time.advance(LEASE.multipliedBy(10));
        store.heal();
        time.advance(LEASE);
        assertThat(state(key(1))).isEqualTo(State.RETRYABLE);
    }

    @ParameterizedTest
    @EnumSource(OnLeaseLost.class)
    @DisplayName("D14 an action does not start when its claim was answered with the lease all but over")
    void answeredTooLate(OnLeaseLost policy) {
        AtomicInteger runs = new AtomicInteger();
        ForwardingStore slow = new ForwardingStore(store) {
            private boolean done;

            @Override
            <T> T around(Verb verb, Object asked, Supplier<T> call) {
                T answer = call.get();
                if (verb == Verb.CLAIM && !done) {
                    done = true;
                    // No heartbeat can come before its end.
                    time.advance(LEASE.minusSeconds(2));
                }
                return answer;
            }
        };
        try (Onlyonce node = Onlyonce.builder(slow)
                .time(time.alone())
                .lease(LEASE)
                .onLeaseLost(policy)
                .sweepEvery(LEASE.multipliedBy(10))
                .cacheBytesMax(0)
                .build()) {
            assertThatThrownBy(
                            () -> node.execute(key(1), PRINT, Codec.text(), claim -> "paid " + runs.incrementAndGet()))
                    .isInstanceOf(StoreUnavailable.class);
            assertThat(runs).hasValue(0);
            assertThat(node.liveClaims()).isZero();
            time.advance(Duration.ofSeconds(1));
            assertThat(node.execute(key(1), PRINT, Codec.text(), claim -> "paid " + runs.incrementAndGet()))
                    .isInstanceOfSatisfying(
                            Outcome.Executed.class,
                            executed -> assertThat(executed.value()).isEqualTo("paid 1"));
        }
    }
}
