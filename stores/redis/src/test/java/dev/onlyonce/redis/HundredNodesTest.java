package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Ending;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.FaultyStore;
import dev.onlyonce.testkit.Verb;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whole engines, each with its own connection to one Redis and one store. */
@DisplayName("A hundred nodes with a shared cache")
class HundredNodesTest {
    private static final int NODES = 100;
    private static final Key KEY = Key.of("acme", "POST /payments", "k-1");
    private static final Fingerprint PRINT = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));

    private final CachedStores stores = new CachedStores();
    private final Time time = Time.system();
    private final FaultyStore origin = new FaultyStore(new MemoryStore(time));
    private final ExecutorService threads = Executors.newFixedThreadPool(NODES);
    private final List<Onlyonce> nodes = new ArrayList<>();

    @BeforeEach
    void open() {
        for (int i = 0; i < NODES; i++) {
            nodes.add(Onlyonce.builder(stores.node(origin, time))
                    .time(time)
                    .sweepEvery(Duration.ofHours(1))
                    .build());
        }
    }

    @AfterEach
    void close() {
        nodes.forEach(Onlyonce::close);
        threads.shutdownNow();
        stores.close();
        time.close();
    }

    private static Outcome<String> pay(Onlyonce node) {
        return node.execute(KEY, PRINT, Codec.text(), claim -> "paid");
    }

    /** All nodes at the same moment. */
    private <T> List<T> all(Function<Onlyonce, T> call) throws Exception {
        CountDownLatch ready = new CountDownLatch(NODES);
        List<Future<T>> calls = new ArrayList<>();
        for (Onlyonce node : nodes) {
            calls.add(threads.submit(() -> {
                ready.countDown();
                ready.await();
                return call.apply(node);
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> each : calls) {
            results.add(each.get());
        }
        return results;
    }

    @Test
    @DisplayName("R1 replay one key and ask the database once, all at the same moment")
    void askOnce() throws Exception {
        try (Onlyonce other = Onlyonce.builder(origin).time(time).build()) {
            assertThat(pay(other)).isInstanceOf(Outcome.Executed.class);
        }
        int before = origin.calls(Verb.CLAIM) + origin.calls(Verb.FIND);
        assertThat(all(HundredNodesTest::pay))
                .hasSize(NODES)
                .allSatisfy(outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(
                                Outcome.Replayed.class,
                                replayed -> assertThat(replayed.value()).isEqualTo("paid")));
        assertThat(origin.calls(Verb.CLAIM) + origin.calls(Verb.FIND) - before).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 claim one key at the same moment: one executes, the database sees it and one duplicate")
    void claimOnce() throws Exception {
        List<Begun> begun = all(node -> node.begin(KEY, PRINT));
        assertThat(begun).filteredOn(Begun.Claimed.class::isInstance).hasSize(1);
        assertThat(begun)
                .filteredOn(Begun.Answered.class::isInstance)
                .hasSize(NODES - 1)
                .allSatisfy(answered ->
                        assertThat(((Begun.Answered) answered).outcome()).isInstanceOf(Outcome.InFlight.class));
        assertThat(origin.calls(Verb.CLAIM)).isLessThanOrEqualTo(3);
        OpenClaim claim = begun.stream()
                .filter(Begun.Claimed.class::isInstance)
                .map(each -> ((Begun.Claimed) each).claim())
                .findFirst()
                .orElseThrow();
        claim.settle(new Ending.Completed("paid".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    @DisplayName("F1 still tell another request with the same key")
    void mismatch() throws Exception {
        pay(nodes.get(0));
        all(HundredNodesTest::pay);
        Fingerprint another = Fingerprint.of("20 EUR".getBytes(StandardCharsets.UTF_8));
        assertThat(all(node -> node.execute(KEY, another, Codec.text(), claim -> "paid again")))
                .allSatisfy(outcome -> assertThat(outcome).isInstanceOf(Outcome.Mismatched.class));
    }

    @Test
    @DisplayName("R7 do not replay an entry that one of them has evicted, from the moment the eviction returns")
    void evict() throws Exception {
        pay(nodes.get(0));
        all(HundredNodesTest::pay);
        assertThat(nodes.get(0).operator().evict(KEY, "an operator", "a test")).isTrue();
        List<Outcome<String>> outcomes = all(node -> node.execute(KEY, PRINT, Codec.text(), claim -> "paid again"));
        assertThat(outcomes).filteredOn(Outcome.Executed.class::isInstance).hasSize(1);
        assertThat(outcomes)
                .filteredOn(Outcome.Replayed.class::isInstance)
                .allSatisfy(outcome ->
                        assertThat(((Outcome.Replayed<String>) outcome).value()).isEqualTo("paid again"));
    }
}
