package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Entries that somebody has overwritten, and lists that others need all the same. */
@DisplayName("An entry in Redis that cannot be read")
class UnreadableTest {
    private static final Partitions PARTITIONS = new Partitions("onlyonce", Partitions.COUNT_SINGLE);
    private static final int RETENTION_AT = 64;

    private final RedisServer server = RedisServer.start();
    private final RedisStore store =
            RedisStore.builder(server.url()).audit(AuditLevel.EXCEPTIONS).build();
    private final RedisStore other = RedisStore.open(server.url());
    private final RedisClient client = RedisClient.create(server.url());
    private final RedisCommands<byte[], byte[]> redis =
            client.connect(ByteArrayCodec.INSTANCE).sync();
    private final List<ClaimRequest> claims =
            IntStream.range(0, 10).mapToObj(i -> Calls.claim("key-" + i)).toList();

    /** How somebody damages an entry. */
    enum Damage {
        TRUNCATED {
            @Override
            void to(byte[] entry, RedisCommands<byte[], byte[]> redis) {
                redis.set(entry, redis.getrange(entry, 0, 20));
            }
        },
        OVERWRITTEN {
            @Override
            void to(byte[] entry, RedisCommands<byte[], byte[]> redis) {
                redis.setrange(entry, 1, "somebody else's text, with no state in it".getBytes(StandardCharsets.UTF_8));
            }
        },
        OF_ANOTHER_RELEASE {
            @Override
            void to(byte[] entry, RedisCommands<byte[], byte[]> redis) {
                redis.setrange(entry, 0, new byte[] {99});
            }
        },
        OF_ANOTHER_TYPE {
            @Override
            void to(byte[] entry, RedisCommands<byte[], byte[]> redis) {
                redis.del(entry);
                redis.hset(entry, entry, entry);
            }
        };

        abstract void to(byte[] entry, RedisCommands<byte[], byte[]> redis);
    }

    @BeforeEach
    void settle() {
        store.claim(claims);
        store.settle(claims.stream().map(Calls::completed).toList());
    }

    @AfterEach
    void stop() {
        client.shutdown();
        other.close();
        store.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource(Damage.class)
    @DisplayName("D11 is left out of lists and audits, which go on with all others")
    void listed(Damage damage) {
        EntryId bad = claims.get(3).id();
        damage.to(PARTITIONS.entry(PARTITIONS.of(bad), bad), redis);
        List<EntryId> others = new ArrayList<>(claims.stream()
                .map(ClaimRequest::id)
                .filter(id -> !id.equals(bad))
                .toList());

        assertThat(store.list(EntryQuery.all(100))).extracting(Entry::id).containsExactlyElementsOf(others);
        assertThat(store.audit(AuditQuery.all(100)))
                .extracting(record -> record.transition().id())
                .doesNotContain(bad)
                .containsAll(others);
        assertThat(store.history(bad)).isEmpty();
        assertThatThrownBy(() -> store.find(List.of(bad))).isInstanceOf(StoreRejected.class);
        assertThat(store.claim(List.of(Calls.claim(bad.key())))).hasOnlyElementsOfType(ClaimResult.Unavailable.class);
        assertThat(store.find(others)).allMatch(found -> found.isPresent());
    }

    @Test
    @DisplayName("D11 or a record of the audit, hides no other record")
    void audited() {
        ClaimRequest evicted = claims.get(5);
        int partition = PARTITIONS.of(evicted.id());
        byte[] stream = PARTITIONS.key(partition, Partitions.AUDIT);
        byte[] garbage = {5, 4, 3};
        redis.xadd(stream, Map.of(garbage, garbage));
        store.evict(evicted.id(), "ann", "test");
        redis.xadd(stream, Map.of(garbage, garbage));

        assertThat(store.history(evicted.id()))
                .extracting(r -> r.transition().why())
                .contains("test");
        assertThat(store.audit(AuditQuery.all(100)))
                .extracting(AuditRecord::transition)
                .filteredOn(transition -> transition.id().equals(evicted.id()))
                .isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {60, 85, 118, 125, 136, 139})
    @DisplayName(
            "D11 because its end is cut off is not settled, costs no other settlement, and is no failure of the server")
    void cutOff(int length) {
        List<ClaimRequest> fresh =
                IntStream.range(0, 10).mapToObj(i -> Calls.claim("fresh-" + i)).toList();
        // By another node: this one settles its own claims without reading them.
        other.claim(fresh);
        EntryId bad = fresh.get(3).id();
        byte[] entry = PARTITIONS.entry(PARTITIONS.of(bad), bad);
        redis.set(entry, redis.getrange(entry, 0, length - 1));

        List<SettleResult> results = new ArrayList<>(
                store.settle(fresh.stream().map(Calls::completed).toList()));
        assertThat(results.remove(3)).isInstanceOf(SettleResult.Busy.class);
        assertThat(results).hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThat(redis.strlen(entry)).isEqualTo(length);
        assertThat(store.settle(List.of(Calls.completed(fresh.get(3))))).hasOnlyElementsOfType(SettleResult.Busy.class);
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1e300, -1e12})
    @DisplayName("D11 because its retention is damaged costs no other settlement")
    void damagedTerms(double retention) {
        List<ClaimRequest> fresh =
                IntStream.range(0, 10).mapToObj(i -> Calls.claim("fresh-" + i)).toList();
        // By another node: this one settles its own claims without reading them.
        other.claim(fresh);
        EntryId bad = fresh.get(3).id();
        byte[] entry = PARTITIONS.entry(PARTITIONS.of(bad), bad);
        redis.setrange(
                entry,
                RETENTION_AT,
                ByteBuffer.allocate(Double.BYTES).putDouble(retention).array());

        List<SettleResult> results = new ArrayList<>(
                store.settle(fresh.stream().map(Calls::completed).toList()));
        assertThat(results.remove(3)).isInstanceOf(SettleResult.Busy.class);
        assertThat(results).hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThat(redis.zscore(PARTITIONS.key(PARTITIONS.of(bad), Partitions.LEASES), Partitions.member(bad)))
                .isNotNull();
    }

    @Test
    @DisplayName("D11 or an empty message in the audit, keeps no settlement from being recorded, and is forgotten")
    void emptyMessage() {
        try (RedisStore small =
                RedisStore.builder(server.url()).auditRecordsMax(2).build()) {
            byte[] none = {};
            for (int partition = 0; partition < PARTITIONS.count(); partition++) {
                redis.xadd(PARTITIONS.key(partition, Partitions.AUDIT), Map.of(none, none));
            }
            for (int i = 0; i < 20; i++) {
                ClaimRequest claim = Calls.claim("recorded-" + i);
                small.claim(List.of(claim));
                assertThat(small.settle(List.of(Calls.completed(claim))))
                        .hasOnlyElementsOfType(SettleResult.Settled.class);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8})
    @DisplayName("T3 or a message of the audit that is cut off, keeps none after it from being deleted")
    void cutOffMessage(int length) {
        ClaimRequest evicted = claims.get(5);
        byte[] stream = PARTITIONS.key(PARTITIONS.of(evicted.id()), Partitions.AUDIT);
        byte[] cutOff = new byte[length];
        redis.xadd(stream, Map.of(cutOff, cutOff));
        store.evict(evicted.id(), "ann", "test");
        assertThat(redis.xlen(stream)).isEqualTo(2);
        assertThat(store.purgeAudit(Duration.ZERO, 1000)).isPositive();
        assertThat(redis.xlen(stream)).isZero();
    }
}
