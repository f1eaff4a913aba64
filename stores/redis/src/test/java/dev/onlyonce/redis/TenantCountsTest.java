package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The limit on a tenant's entries rests on them: see {@code StoredKeys} of the HTTP rules. */
@DisplayName("The number of a tenant's entries in Redis")
class TenantCountsTest {
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final int MAX = 1000;

    private static RedisServer server;
    private static RedisClock clock;

    @BeforeAll
    static void connect() {
        server = RedisServer.start();
        clock = new RedisClock(server.url());
    }

    @AfterAll
    static void disconnect() {
        clock.close();
        server.close();
    }

    @BeforeEach
    void start() {
        clock.start();
    }

    private static ClaimRequest claim(String tenant, String key, Duration tombstone) {
        return new ClaimRequest(
                new EntryId(tenant, "", key),
                "POST /payments",
                Fingerprint.of(new byte[] {1}),
                UUID.randomUUID(),
                "node-1",
                new Terms(Duration.ofMinutes(5), OnLeaseLost.UNKNOWN, RETENTION, tombstone),
                State.PROCESSING);
    }

    private static List<ClaimRequest> claims(Duration tombstone) {
        List<ClaimRequest> claims = new ArrayList<>();
        for (int i = 0; i < 90; i++) {
            claims.add(claim(i % 3 == 0 ? "a" : "a{é}", "key-" + i, tombstone));
        }
        return claims;
    }

    private static void assertCounts(Store store, int a, int other) {
        assertThat(store.countStored("a", MAX)).isEqualTo(a);
        assertThat(store.countStored("a{é}", MAX)).isEqualTo(other);
        assertThat(store.countStored("é", MAX)).isZero();
        assertThat(store.countStored(null, MAX)).isEqualTo(a + other);
    }

    @Test
    @DisplayName("S3 is right at once on every node, from the first claim to the last purge, whoever claims and purges")
    void everyNode() {
        Store store = clock.node(0);
        Store other = clock.node(1);
        List<ClaimRequest> claims = claims(Duration.ofHours(1));
        store.claim(claims);
        assertCounts(other, 30, 60);
        // Again, with the same tokens and with others.
        store.claim(claims);
        other.claim(claims(Duration.ZERO));
        store.settle(claims.subList(0, 60).stream().map(Calls::completed).toList());
        assertCounts(other, 30, 60);
        assertThat(other.evict(claims.get(0).id(), "ann", "wrong")).isPresent();
        assertThat(other.evict(claims.get(0).id(), "ann", "wrong")).isEmpty();
        assertCounts(store, 29, 60);
        clock.advance(RETENTION);
        assertThat(other.sweep(MAX)).hasSize(30);
        assertThat(other.purge(MAX)).isEqualTo(59);
        assertCounts(store, 29, 60);
        clock.advance(Duration.ofHours(1));
        // One that is past everything is taken as new.
        assertThat(store.claim(List.of(claim("a", "key-3", Duration.ZERO))))
                .containsExactly(new ClaimResult.Claimed(1));
        assertCounts(other, 29, 60);
        assertThat(store.purge(MAX)).isEqualTo(58);
        assertCounts(other, 11, 20);
        assertThat(server.command("EXISTS", "onlyonce:{0}:tenants")).isEqualTo(":1");
    }

    @Test
    @DisplayName("forgets entries that somebody has deleted with the purge or the sweep that misses them")
    void deletedByHand() {
        Store store = clock.node(0);
        List<ClaimRequest> claims = claims(Duration.ZERO);
        store.claim(claims);
        store.settle(claims.subList(0, 45).stream().map(Calls::completed).toList());
        server.command("EVAL", "\"for _, k in ipairs(redis.call('KEYS', '*:e:*')) do redis.call('DEL', k) end\"", "0");
        clock.advance(RETENTION);
        assertThat(store.sweep(MAX)).isEmpty();
        assertThat(store.purge(MAX)).isZero();
        assertCounts(store, 0, 0);
        assertThat(server.command("EXISTS", "onlyonce:{0}:tenants", "onlyonce:{1}:tenants"))
                .as("tenants without entries take no memory")
                .isEqualTo(":0");
    }
}
