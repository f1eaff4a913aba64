package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    /** Does not answer a certain entry with others; reading it takes until the test says so. */
    private static final class LargeEntryStore extends ForwardingStore {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch isRead = new CountDownLatch(1);
        private final Set<EntryId> large;

        LargeEntryStore(Store store, Set<EntryId> large) {
            super(store);
            this.large = large;
        }

        @Override
        public List<ClaimResult> claim(List<ClaimRequest> requests) {
            List<ClaimResult> results = new ArrayList<>(super.claim(requests));
            for (int i = 0; i < results.size(); i++) {
                if (large.contains(requests.get(i).id()) && results.get(i) instanceof ClaimResult.Existing) {
                    results.set(i, new ClaimResult.Large());
                }
            }
            return results;
        }

        @Override
        public List<Optional<Entry>> find(List<EntryId> ids) {
            if (ids.stream().anyMatch(large::contains)) {
                asked.countDown();
                try {
                    isRead.await();
                } catch (InterruptedException e) {
                    throw new StoreUnavailable("interrupted", e);
                }
            }
            return super.find(ids);
        }
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName("D16 R1 large results that take long to read hold up no other key, and are answered")
    void largeResults(CallStyle style) throws Exception {
        Set<EntryId> ids = IntStream.range(0, 8).mapToObj(i -> key(i).entryId()).collect(Collectors.toSet());
        LargeEntryStore slow = new LargeEntryStore(store, ids);
        ExecutorService callers = Executors.newFixedThreadPool(ids.size());
        try (Onlyonce other =
                Onlyonce.builder(slow).time(time.alone()).cacheBytesMax(0).build()) {
            List<Future<Outcome<String>>> replays = new ArrayList<>();
            for (int i = 0; i < ids.size(); i++) {
                Key key = key(i);
                assertThat(style.execute(other, key, PRINT, claim -> "paid")).isInstanceOf(Outcome.Executed.class);
                replays.add(callers.submit(() -> style.execute(other, key, PRINT, claim -> "again")));
            }
            for (int i = ids.size(); i < MANY; i++) {
                assertThat(style.execute(other, key(i), PRINT, claim -> "paid")).isInstanceOf(Outcome.Executed.class);
            }
            assertThat(replays).noneMatch(Future::isDone);
            slow.isRead.countDown();
            for (Future<Outcome<String>> replay : replays) {
                assertThat(replay.get()).isInstanceOf(Outcome.Replayed.class);
                assertThat(replay.get().orElseThrow()).isEqualTo("paid");
            }
        } finally {
            slow.isRead.countDown();
            callers.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(CallStyle.class)
    @DisplayName(
            "R7 a large result that is evicted before it is read is in flight for that request, and its key is free for the next")
    void evictedBeforeRead(CallStyle style) throws Exception {
        LargeEntryStore slow = new LargeEntryStore(store, Set.of(key(0).entryId()));
        ExecutorService callers = Executors.newSingleThreadExecutor();
        try (Onlyonce other =
                Onlyonce.builder(slow).time(time.alone()).cacheBytesMax(0).build()) {
            style.execute(other, key(0), PRINT, claim -> "paid");
            Future<Outcome<String>> replay =
                    callers.submit(() -> style.execute(other, key(0), PRINT, claim -> "again"));
            assertThat(slow.asked.await(10, TimeUnit.SECONDS)).isTrue();
            store.evict(key(0).entryId(), "ann", "test");
            slow.isRead.countDown();
            assertThat(replay.get()).isInstanceOf(Outcome.InFlight.class);
            assertThat(style.execute(other, key(0), PRINT, claim -> "again")).isInstanceOf(Outcome.Executed.class);
        } finally {
            slow.isRead.countDown();
            callers.shutdownNow();
        }
    }
}
