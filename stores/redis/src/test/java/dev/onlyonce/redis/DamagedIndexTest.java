package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Transition;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members that somebody else has put into an index, and entries there that cannot be read. */
@DisplayName("An index in Redis with damaged members")
class DamagedIndexTest {
    private static final EntryQuery UNKNOWN = new EntryQuery(null, null, State.UNKNOWN, null, null, 10);
    private static final int GARBAGE = 600;
    private static final int KEPT = 1000;

    private static RedisServer server;
    private static RedisClock clock;
    private static RedisClient client;
    private static RedisCommands<byte[], byte[]> redis;

    private final ClaimRequest claim = Calls.claim("z-key");

    @BeforeAll
    static void connect() {
        server = RedisServer.start();
        clock = new RedisClock(server.url());
        client = RedisClient.create(server.url());
        redis = client.connect(ByteArrayCodec.INSTANCE).sync();
    }

    @AfterAll
    static void disconnect() {
        client.shutdown();
        clock.close();
        server.close();
    }

    @BeforeEach
    void start() {
        clock.start();
    }

    private static byte[] key(int partition, String index) {
        return clock.partitions().key(partition, index);
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "one\0separator", "\0\0\0", "", "\ud83d", "acme\0\0elsewhere"})
    @DisplayName("D1 D11 T3 is swept, purged, listed and audited all the same, and loses them")
    void garbage(String text) {
        byte[] garbage = text.equals("\ud83d")
                ? new byte[] {(byte) 0xff, 0, 0, (byte) 0xfe}
                : text.getBytes(StandardCharsets.UTF_8);
        Store store = clock.node(0);
        store.claim(List.of(claim, Calls.claim("done")));
        store.settle(List.of(Calls.completed(Calls.claim("done"))));
        for (int partition = 0; partition < clock.partitions().count(); partition++) {
            // Of the last one it may be a member in truth.
            if (clock.partitions().of(garbage) != partition || !text.startsWith("acme")) {
                for (String index : List.of("leases", "expiries", "unknown")) {
                    redis.zadd(key(partition, index), 0, garbage);
                }
            }
        }
        assertThatCode(() -> store.purge(10)).doesNotThrowAnyException();
        clock.advance(Duration.ofHours(2));
        assertThat(store.sweep(10)).extracting(Transition::id).contains(claim.id());
        assertThat(store.list(EntryQuery.all(10))).extracting(Entry::id).contains(claim.id());
        assertThat(store.list(UNKNOWN)).extracting(Entry::id).contains(claim.id());
        try (RedisStore exceptions =
                RedisStore.builder(server.url()).audit(AuditLevel.EXCEPTIONS).build()) {
            assertThat(exceptions.audit(AuditQuery.all(10))).isNotEmpty();
        }
        for (int partition = 0; partition < clock.partitions().count(); partition++) {
            for (String index : List.of("leases", "expiries", "unknown")) {
                if (clock.partitions().of(garbage) != partition || !text.startsWith("acme")) {
                    assertThat(redis.zscore(key(partition, index), garbage)).isNull();
                }
            }
        }
    }

    @Test
    @DisplayName("D1 D11 T3 shows what comes after many of them, and keeps some for an operator")
    void many() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        int partition = clock.partitions().of(claim.id());
        for (int i = 0; i < 2 * GARBAGE; i++) {
            byte[] garbage = ("aaa-" + i).getBytes(StandardCharsets.UTF_8);
            redis.zadd(key(partition, "leases"), 0, garbage);
            redis.zadd(key(partition, "expiries"), 0, garbage);
        }
        clock.advance(Duration.ofHours(2));
        assertThat(store.list(EntryQuery.all(10))).extracting(Entry::id).containsExactly(claim.id());
        assertThat(store.sweep(200)).extracting(Transition::id).containsExactly(claim.id());
        assertThat(redis.zcard(key(partition, "damaged"))).isEqualTo(KEPT);
    }

    @Test
    @DisplayName("D1 D11 sweeps leases behind many entries that cannot be read, and those when they can be read again")
    void unreadableHead() {
        Store store = clock.node(0);
        List<ClaimRequest> bad = IntStream.range(0, GARBAGE)
                .mapToObj(i -> Calls.claim("bad-" + i))
                .toList();
        for (int i = 0; i < GARBAGE; i += 200) {
            store.claim(bad.subList(i, i + 200));
        }
        bad.forEach(each -> format((byte) 99, each));
        clock.advance(Duration.ofMinutes(1));
        store.claim(List.of(claim));
        clock.advance(Duration.ofHours(1));
        assertThat(store.sweep(100)).extracting(Transition::id).containsExactly(claim.id());
        bad.forEach(each -> format((byte) 3, each));
        assertThat(store.sweep(100)).isEmpty();
        clock.advance(Duration.ofHours(1));
        assertThat(store.sweep(1000)).hasSize(GARBAGE);
    }

    private static void format(byte format, ClaimRequest of) {
        int partition = clock.partitions().of(of.id());
        redis.setrange(clock.partitions().entry(partition, of.id()), 0, new byte[] {format});
    }
}
