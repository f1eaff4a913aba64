package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One claim's trouble must not cost another claim its lease. */
class NeighboursTest {
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int MANY = 300;

    private final ManualTime time = new ManualTime();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = Onlyonce.builder(store)
            .time(time.alone())
            .lease(LEASE)
            .cacheBytesMax(0)
            .build();

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
    }

    private static Key key(int i) {
        return Key.of("acme", "POST /payments", "k-" + i);
    }

    private List<OpenClaim> claims() {
        List<OpenClaim> claims = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            claims.add(((Begun.Claimed) once.begin(key(i), PRINT)).claim());
        }
        return claims;
    }

    /** Both kinds of store: one that says which row is busy, and one that cannot. */
    static Stream<Arguments> holdings() {
        BiConsumer<FaultyStore, EntryId> hold = FaultyStore::hold;
        BiConsumer<FaultyStore, EntryId> lock = FaultyStore::lock;
        return Stream.of(Arguments.argumentSet("told", hold), Arguments.argumentSet("untold", lock));
    }

    @ParameterizedTest
    @MethodSource("holdings")
    @DisplayName("D11 a locked row costs no other claim its lease, and its own only if the lock outlives it")
    void lockedRow(BiConsumer<FaultyStore, EntryId> holding) {
        List<OpenClaim> claims = claims();
        holding.accept(store, key(7).entryId());
        time.advance(LEASE.multipliedBy(3));
        for (int i = 0; i < MANY; i++) {
            assertThat(claims.get(i).isHeld()).as("claim %s", i).isEqualTo(i != 7);
        }
        store.letGo(key(7).entryId());
        for (int i = 0; i < MANY; i++) {
            if (i != 7) {
                assertThat(claims.get(i).complete(Requests.bytes("paid"))).isInstanceOf(SettleResult.Settled.class);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("holdings")
    @DisplayName("D11 a row that is locked for less than its lease costs nobody anything")
    void lockedForAWhile(BiConsumer<FaultyStore, EntryId> holding) {
        List<OpenClaim> claims = claims();
        holding.accept(store, key(7).entryId());
        time.advance(LEASE.dividedBy(2));
        store.letGo(key(7).entryId());
        time.advance(LEASE.multipliedBy(2));
        assertThat(claims).allMatch(OpenClaim::isHeld);
    }

    @ParameterizedTest
    @MethodSource("holdings")
    @DisplayName("D11 D13 a settlement of a locked row is recorded when the lock is gone, others at once")
    void lockedSettlement(BiConsumer<FaultyStore, EntryId> holding) {
        OpenClaim locked = ((Begun.Claimed) once.begin(key(1), PRINT)).claim();
        OpenClaim free = ((Begun.Claimed) once.begin(key(2), PRINT)).claim();
        holding.accept(store, key(1).entryId());
        time.schedule(Duration.ofSeconds(2), () -> store.letGo(key(1).entryId()));
        assertThat(free.complete(Requests.bytes("paid"))).isInstanceOf(SettleResult.Settled.class);
        assertThat(locked.complete(Requests.bytes("paid"))).isInstanceOf(SettleResult.Settled.class);
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName("C3 D16 a claim of a row that somebody else holds is in flight")
    void heldClaim(CallStyle style) {
        store.hold(key(1).entryId());
        assertThat(style.execute(once, key(1), PRINT, claim -> "paid")).isInstanceOf(Outcome.InFlight.class);
        store.letGo(key(1).entryId());
        assertThat(style.execute(once, key(1), PRINT, claim -> "paid")).isInstanceOf(Outcome.Executed.class);
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName(
            "D9 D11 a claim of a row whose server is overloaded is refused, not in flight; others are taken at once")
    void overloadedClaim(CallStyle style) {
        store.overload(key(1).entryId());
        assertThatThrownBy(() -> style.execute(once, key(1), PRINT, claim -> "paid"))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("overloaded");
        assertThat(style.execute(once, key(2), PRINT, claim -> "paid")).isInstanceOf(Outcome.Executed.class);
        store.letGo(key(1).entryId());
        assertThat(style.execute(once, key(1), PRINT, claim -> "paid")).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("D11 a callback that breaks when its claim is lost stops nobody's heartbeats")
    void callbackBreaks() {
        List<OpenClaim> claims = claims();
        claims.get(7).onLost(() -> {
            throw new StackOverflowError("planted");
        });
        store.hold(key(7).entryId());
        time.advance(LEASE.multipliedBy(3));
        assertThat(claims.get(7).isHeld()).isFalse();
        assertThat(claims.get(8).isHeld()).isTrue();
    }

    @Test
    @DisplayName("D11 an Error, or a rejected row, in one heartbeat stops nobody's next one")
    void heartbeatBreaks() {
        List<OpenClaim> claims = claims();
        store.failAt(Verb.RENEW, 1, Fault.ERROR);
        store.failAt(Verb.RENEW, 5, Fault.REJECTED);
        store.failAt(Verb.RENEW, 9, Fault.LOST);
        time.advance(LEASE.multipliedBy(3));
        assertThat(claims).allMatch(OpenClaim::isHeld);
        assertThat(once.find(key(0)).orElseThrow().state()).isEqualTo(State.PROCESSING);
    }
}
