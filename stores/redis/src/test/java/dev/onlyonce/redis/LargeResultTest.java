package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.resource.ClientResources;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Results that would hold up the answers to others. */
@DisplayName("A large result in Redis")
class LargeResultTest {
    private static final int SMALL = 10_000;
    private static final int LARGE = 100_000;
    private static final int CALLERS = 16;
    /** Of a connection's buffer: fewer than one large result needs, and more than all small ones. */
    private static final int ANSWER_BYTES_MAX = 64 << 10;

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void clear() {
        server.command("FLUSHALL");
    }

    private static ClaimRequest settled(RedisStore store, String key, int bytes) {
        ClaimRequest claim = Calls.claim(key);
        store.claim(List.of(claim));
        store.settle(
                List.of(Settlement.of(claim.id(), claim.token(), State.COMPLETED, Optional.of(bytes(bytes)), "done")));
        return claim;
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    private static long outputBytes() {
        return server.command("INFO", "stats")
                .lines()
                .filter(line -> line.startsWith("total_net_output_bytes:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
    }

    @Test
    @DisplayName("D16 does not travel with the answers to a list of claims; small ones do")
    void claims() {
        try (RedisStore store = RedisStore.open(server.url())) {
            settled(store, "large", LARGE);
            settled(store, "small", SMALL);
            long before = outputBytes();
            List<ClaimResult> results =
                    store.claim(List.of(Calls.claim("large"), Calls.claim("new"), Calls.claim("small")));
            assertThat(outputBytes() - before).isBetween((long) SMALL, (long) ANSWER_BYTES_MAX);
            assertThat(results.get(0)).isEqualTo(new ClaimResult.Large());
            assertThat(results.get(1)).isEqualTo(new ClaimResult.Claimed(1));
            assertThat(results.get(2)).isInstanceOf(ClaimResult.Existing.class);
        }
    }

    @Test
    @DisplayName("R1 O1 is found and listed, with others or alone, and its entry is evicted")
    void found() {
        try (RedisStore store = RedisStore.open(server.url())) {
            List<EntryId> ids = List.of(
                    settled(store, "a-small", SMALL).id(),
                    settled(store, "b-large", LARGE).id(),
                    settled(store, "c-larger", 10 * LARGE).id());
            assertThat(store.find(ids))
                    .extracting(found -> found.orElseThrow().result())
                    .containsExactly(bytes(SMALL), bytes(LARGE), bytes(10 * LARGE));
            assertThat(store.find(ids.subList(1, 2)).get(0).orElseThrow().result())
                    .isEqualTo(bytes(LARGE));
            assertThat(store.list(EntryQuery.all(10)))
                    .as("a listing leaves results out")
                    .hasSize(3)
                    .allSatisfy(entry -> assertThat(entry.result()).isNull());
            assertThat(store.evict(ids.get(1), "ann", "test")).isPresent();
            assertThat(store.find(ids.subList(1, 2)).get(0)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {LARGE, 11 << 20})
    @DisplayName("D16 R1 is replayed to many callers at once, while others get their answers")
    void replays(int bytes) throws Exception {
        byte[] result = bytes(bytes);
        Fingerprint print = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try (RedisStore store = RedisStore.open(server.url());
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .resultBytesMax(Policy.RESULT_BYTES_MAX)
                        .build()) {
            List<Key> keys = IntStream.range(0, CALLERS)
                    .mapToObj(i -> Key.of("greedy", "POST /reports", "key-" + i))
                    .toList();
            keys.forEach(key -> once.execute(key, print, Codec.bytes(), claim -> result));
            List<Future<Outcome<byte[]>>> replays = keys.stream()
                    .map(key -> callers.submit(() -> once.execute(key, print, Codec.bytes(), claim -> new byte[0])))
                    .toList();
            int done = 0;
            while (!replays.stream().allMatch(Future::isDone)) {
                Key key = Key.of("neighbour", "POST /payments", "key-" + done++);
                assertThat(once.execute(key, print, String.class, claim -> "paid")
                                .orElseThrow())
                        .isEqualTo("paid");
            }
            for (Future<Outcome<byte[]>> replay : replays) {
                assertThat(Arrays.equals(replay.get().orElseThrow(), result)).isTrue();
            }
        } finally {
            callers.shutdownNow();
        }
    }

    @Test
    @DisplayName("R1 is never that of another entry, if the other connection leads to a server that was replaced")
    void replacedServer() {
        try (RedisServer replaced = RedisServer.start();
                RedisStore store = RedisStore.open(server.url());
                RedisStore before = RedisStore.open(replaced.url())) {
            ClaimRequest claim = settled(store, "key", LARGE);
            settled(before, "key", LARGE + 1);
            ClientResources resources = ClientResources.create();
            try (Link link = link(server, resources);
                    LargeEntries elsewhere =
                            new LargeEntries(() -> link(replaced, resources), LargeResultTest::pipeline, TIMEOUT)) {
                Partitions partitions = new Partitions("onlyonce", Partitions.COUNT_SINGLE);
                String mark = server.command("GET", "onlyonce:{0}:store");
                Swaps swaps = new Swaps(
                        link, pipeline(link), partitions, new Swaps.Settings(1000, () -> mark, Optional.empty()));
                Replicas none = new Replicas(link, partitions, new Replicas.Wanted(0, false, TIMEOUT));
                Reads reads = new Reads(link, swaps, none, elsewhere);
                assertThatThrownBy(() -> reads.find(List.of(claim.id())))
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("changed");
            } finally {
                var unused = resources.shutdown();
            }
        }
    }

    private static Link link(RedisServer to, ClientResources resources) {
        return LinkOpening.open(
                LinkOpening.Servers.trusting(RedisUrl.of(to.url()).servers(), null), resources);
    }

    private static Pipeline pipeline(Link link) {
        return new Pipeline(link, new ServerCheck(link, TIMEOUT, true, false), TIMEOUT);
    }
}
