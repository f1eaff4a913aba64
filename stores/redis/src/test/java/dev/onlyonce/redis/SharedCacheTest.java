package dev.onlyonce.redis;

import static dev.onlyonce.redis.CachedStores.state;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.testkit.Fault;
import dev.onlyonce.testkit.FaultyStore;
import dev.onlyonce.testkit.ManualTime;
import dev.onlyonce.testkit.Verb;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the shared cache answers, for how long, and what a hostile hand in Redis can do. */
@DisplayName("The shared cache")
class SharedCacheTest {
    private static final Duration FRESH_FOR = Duration.ofSeconds(5);

    private final CachedStores stores = new CachedStores();
    private final ManualTime time = new ManualTime();
    private final FaultyStore origin = new FaultyStore(new MemoryStore(time));
    private final CachedStore first = stores.node(origin, time.alone());
    private final CachedStore second = stores.node(origin, time.alone());
    private final ClaimRequest claim = Calls.claim("k-1");

    @AfterEach
    void close() {
        stores.close();
        time.close();
    }

    private ClaimResult claim(CachedStore node) {
        ClaimResult result = node.claim(List.of(Calls.claim("k-1"))).get(0);
        node.awaitWrites();
        return result;
    }

    private void settle() {
        first.claim(List.of(claim));
        first.settle(List.of(Calls.completed(claim)));
        first.awaitWrites();
    }

    /** A node for which answers count for as long as they can. */
    private CachedStore patient() {
        return stores.node(
                CachedStore.builder(origin, CachedStores.options(stores.server.url()))
                        .freshFor(Duration.ofSeconds(30))
                        .timeout(Duration.ofSeconds(10)),
                time.alone());
    }

    private int asked() {
        return origin.calls(Verb.CLAIM) + origin.calls(Verb.FIND);
    }

    @Test
    @DisplayName("R1 answers with the whole entry, byte for byte, as the store did")
    void sameEntry() {
        settle();
        ClaimResult stored = claim(second);
        int before = asked();
        assertThat(claim(first))
                .usingRecursiveComparison()
                .withEqualsForType(Fingerprint::matches, Fingerprint.class)
                .isEqualTo(stored);
        assertThat(asked()).isEqualTo(before);
        assertThat(first.cache().orElseThrow().replayed()).isEqualTo(1);
    }

    @Test
    @DisplayName("C3 sheds duplicates of a running claim, until it ends")
    void sheds() {
        first.claim(List.of(claim));
        first.awaitWrites();
        assertThat(state(claim(second))).isEqualTo(State.PROCESSING);
        int before = asked();
        assertThat(state(claim(first))).isEqualTo(State.PROCESSING);
        assertThat(state(claim(second))).isEqualTo(State.PROCESSING);
        assertThat(asked()).as("from the mark").isEqualTo(before);
        first.settle(List.of(Calls.completed(claim)));
        first.awaitWrites();
        assertThat(state(claim(second))).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("E3 D1 believes no mark of a running claim for longer than a second, even if somebody puts it back")
    void marksLapse() {
        first.claim(List.of(claim));
        claim(second);
        List<CachedStores.Value> marks = stores.values();
        origin.settle(List.of(Calls.completed(claim)));
        time.advance(Duration.ofMillis(999));
        stores.putBack(marks);
        assertThat(state(claim(second))).as("the price").isEqualTo(State.PROCESSING);
        time.advance(Duration.ofMillis(1));
        stores.putBack(marks);
        assertThat(state(claim(second))).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("C5 leaves a repeated claim of the running request to the store")
    void ownClaim() {
        first.claim(List.of(claim));
        claim(second);
        assertThat(first.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName("E3 R7 has nothing of an evicted entry when the eviction returns, even if somebody puts it back")
    void evicted() {
        settle();
        claim(second);
        List<CachedStores.Value> answers = stores.values();
        assertThat(answers).hasSize(1);
        long before = time.nanos();
        assertThat(first.evict(claim.id(), "an operator", "a test")).isPresent();
        assertThat(Duration.ofNanos(time.nanos() - before)).isEqualTo(FRESH_FOR.plusSeconds(2));
        stores.putBack(answers);
        assertThat(claim(second)).isEqualTo(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName(
            "R7 notices after five seconds that an entry was deleted past it, even if somebody puts the answer back")
    void deletedPastIt() {
        settle();
        claim(second);
        List<CachedStores.Value> answers = stores.values();
        assertThat(origin.evict(claim.id(), "an operator", "in the database")).isPresent();
        time.advance(FRESH_FOR.minusMillis(1));
        stores.putBack(answers);
        assertThat(state(claim(second))).as("the price").isEqualTo(State.COMPLETED);
        time.advance(Duration.ofMillis(1));
        stores.putBack(answers);
        assertThat(claim(second)).isEqualTo(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName(
            "R7 has nothing of an entry whose eviction may have failed either: the next try finds nothing to wait for")
    void evictedPerhaps() {
        settle();
        claim(second);
        List<CachedStores.Value> answers = stores.values();
        origin.failAt(Verb.EVICT, 1, Fault.AFTER);
        assertThatThrownBy(() -> first.evict(claim.id(), "an operator", "a test"))
                .isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(first.evict(claim.id(), "an operator", "once more")).isEmpty();
        stores.putBack(answers);
        assertThat(claim(second)).isEqualTo(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName("R7 does not cut an eviction short because its thread was interrupted")
    void interrupted() throws Exception {
        settle();
        CachedStore node = stores.node(origin, time);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread operator = new Thread(() -> {
            node.evict(claim.id(), "an operator", "a test");
            interrupted.complete(Thread.currentThread().isInterrupted());
        });
        operator.start();
        time.untilWaiting(1);
        operator.interrupt();
        time.advance(FRESH_FOR.plusMillis(1999));
        time.untilWaiting(1);
        assertThat(interrupted).isNotDone();
        time.advance(Duration.ofMillis(1));
        assertThat(interrupted.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @DisplayName("E3 T2 answers nothing past its retention, however long answers count and whoever puts them back")
    void retention() {
        CachedStore patient = patient();
        settle();
        time.advance(Duration.ofMinutes(60).minusSeconds(20));
        assertThat(state(claim(patient))).isEqualTo(State.COMPLETED);
        List<CachedStores.Value> answers = stores.values();
        time.advance(Duration.ofSeconds(10));
        stores.putBack(answers);
        int before = asked();
        assertThat(state(claim(patient))).isEqualTo(State.COMPLETED);
        assertThat(asked()).as("ten seconds before the end").isEqualTo(before);
        time.advance(Duration.ofSeconds(10));
        stores.putBack(answers);
        assertThat(claim(patient)).isEqualTo(new ClaimResult.Claimed(1));
    }

    @Test
    @DisplayName("does not outlive retention in Redis either")
    void ttl() {
        settle();
        claim(second);
        stores.values()
                .forEach(value -> assertThat(stores.redis().pttl(value.name())).isBetween(1L, FRESH_FOR.toMillis()));
    }

    @Test
    @DisplayName("does not need the clock of a node: one that does not know the store's asks the store")
    void clockNotKnown() {
        CachedStore patient = patient();
        CachedStore other = patient();
        settle();
        stores.redis().flushall();
        claim(patient);
        time.advance(StoreClock.KNOWN_FOR);
        stores.redis().flushall();
        claim(other);
        List<CachedStores.Value> answers = stores.values();
        int before = asked();
        assertThat(state(claim(patient))).isEqualTo(State.COMPLETED);
        assertThat(asked()).as("known").isEqualTo(before);
        time.advance(Duration.ofMillis(1));
        stores.putBack(answers);
        assertThat(state(claim(patient))).isEqualTo(State.COMPLETED);
        assertThat(asked()).as("not known any more").isEqualTo(before + 1);
    }

    @Test
    @DisplayName("E3 refuses answers that were sealed with another secret, for another store, or for another key")
    void refuses() {
        settle();
        claim(second);
        for (CacheOptions options : List.of(
                new CacheOptions(stores.server.url(), "another", null, CachedStores.SECRET),
                new CacheOptions(stores.server.url(), "test", null, "another secret of at least 32 characters"))) {
            CachedStore stranger = stores.node(
                    CachedStore.builder(new MemoryStore(time), options).timeout(Duration.ofSeconds(10)), time.alone());
            byte[] theirs = CacheSeal.of(options).key(claim.id());
            stores.redis().set(theirs, stores.values().get(0).bytes());
            assertThat(claim(stranger)).isEqualTo(new ClaimResult.Claimed(1));
            assertThat(stranger.cache().orElseThrow().refused()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("E3 reads no more of a value than an entry can have, whatever somebody has put there")
    void hugeValue() {
        settle();
        claim(second);
        byte[] huge = new byte[64 << 20];
        stores.values().forEach(value -> stores.redis().set(value.name(), huge));
        long before = sentBytes();
        assertThat(state(claim(second))).isEqualTo(State.COMPLETED);
        assertThat(sentBytes() - before).isLessThan(huge.length / 8);
        assertThat(second.cache().orElseThrow().refused()).isEqualTo(1);
    }

    private long sentBytes() {
        return stores.server
                .command("INFO", "stats")
                .lines()
                .filter(line -> line.startsWith("total_net_output_bytes:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
    }

    @Test
    @DisplayName("waits a moment for an answer that another node asks for, and no longer, even if the note stays")
    void noteStays() {
        settle();
        stores.redis()
                .set(
                        CacheSeal.of(CachedStores.options("redis://x")).key(claim.id()),
                        "?".getBytes(StandardCharsets.US_ASCII));
        CachedStore brief =
                stores.node(CachedStore.builder(origin, CachedStores.options(stores.server.url())), time.alone());
        long before = time.nanos();
        assertThat(state(claim(brief))).isEqualTo(State.COMPLETED);
        assertThat(Duration.ofNanos(time.nanos() - before)).isPositive().isLessThanOrEqualTo(Duration.ofMillis(50));
    }

    @Test
    @DisplayName("E3 shows neither keys nor answers to a reader of Redis, with the store's encryption or a secret")
    void sealed() {
        byte[] key = new byte[32];
        key[0] = 1;
        CacheOptions encrypted = new CacheOptions(stores.server.url(), "test", Encryption.with(7, key), null);
        CachedStore sealing =
                stores.node(CachedStore.builder(origin, encrypted).timeout(Duration.ofSeconds(10)), time.alone());
        settle();
        for (CachedStore node : List.of(second, sealing)) {
            stores.redis().flushall();
            assertThat(state(claim(node))).isEqualTo(State.COMPLETED);
            assertThat(stores.values()).hasSize(1).allSatisfy(value -> {
                assertThat(new String(value.name(), StandardCharsets.ISO_8859_1))
                        .doesNotContain("k-1", "acme");
                assertThat(new String(value.bytes(), StandardCharsets.ISO_8859_1))
                        .doesNotContain(
                                "k-1", "acme", "POST /payments", claim.token().toString());
            });
        }
        assertThat(Encryption.keyOf(stores.values().get(0).bytes())).isEqualTo(7);
        assertThat(state(claim(sealing))).isEqualTo(State.COMPLETED);
        assertThat(sealing.cache().orElseThrow().replayed()).isEqualTo(1);
    }
}
