package dev.onlyonce.redis;

import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the audit has of an ordinary life: one record at level ALL, the entry itself at level EXCEPTIONS. */
@DisplayName("An ordinary life in Redis")
class OrdinaryLivesTest {
    private static final String CLAIMED = "1 null>PROCESSING node-1: claimed";
    private static final String SETTLED = "1 PROCESSING>COMPLETED node-1: done";
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(1);
    private static final Duration TOMBSTONE = Duration.ofHours(2);

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

    private static RedisStore at(AuditLevel level) {
        return RedisStore.builder(server.url())
                .clock(RedisClock.LUA)
                .audit(level)
                .timeout(Duration.ofSeconds(20))
                .build();
    }

    private static ClaimRequest claim(String key, Duration tombstone) {
        ClaimRequest claim = Calls.claim(key);
        Terms terms = new Terms(LEASE, OnLeaseLost.UNKNOWN, RETENTION, tombstone);
        return new ClaimRequest(
                claim.id(), claim.operation(), claim.fingerprint(), claim.token(), claim.owner(), terms, claim.start());
    }

    private static ClaimRequest completed(Store store, String key, Duration tombstone) {
        ClaimRequest claim = claim(key, tombstone);
        store.claim(List.of(claim));
        store.settle(List.of(Calls.completed(claim)));
        return claim;
    }

    private static Settlement settlement(ClaimRequest claim, State to) {
        return Settlement.of(claim.id(), claim.token(), to, Optional.empty(), "done");
    }

    private static List<String> history(Store store, String key) {
        return shown(store.history(Calls.claim(key).id()));
    }

    private static List<String> shown(List<AuditRecord> records) {
        return records.stream()
                .map(AuditRecord::transition)
                .map(t -> t.attempt() + " " + t.from() + ">" + t.to() + " " + t.who() + ": " + t.why())
                .toList();
    }

    /** How many records the streams have. */
    private static int records() {
        return IntStream.range(0, clock.partitions().count())
                .map(partition -> {
                    String count = server.command("GET", "onlyonce:{" + partition + "}:audited")
                            .replaceAll("\\$-?\\d+\\s*", "")
                            .strip();
                    return count.isEmpty() ? 0 : Integer.parseInt(count);
                })
                .sum();
    }

    private static int expected(AuditLevel level) {
        return level == AuditLevel.ALL ? 1 : 0;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2 has two records, which are one or none in the audit's streams")
    void recorded(AuditLevel level) {
        try (RedisStore store = at(level)) {
            completed(store, "key", Duration.ZERO);
            ClaimRequest failed = claim("failed", Duration.ZERO);
            store.claim(List.of(failed));
            assertThat(history(store, "failed")).containsExactly(CLAIMED);
            clock.advance(LEASE);
            store.settle(List.of(settlement(failed, FAILED)));
            assertThat(records()).isEqualTo(2 * expected(level));
            assertThat(history(store, "key")).containsExactly(CLAIMED, SETTLED);
            assertThat(history(store, "failed")).containsExactly(CLAIMED, "1 PROCESSING>FAILED node-1: done");
            assertThat(shown(store.audit(AuditQuery.all(10))))
                    .containsExactly(CLAIMED, SETTLED, CLAIMED, "1 PROCESSING>FAILED node-1: done");
            Entry entry = store.find(List.of(failed.id())).get(0).orElseThrow();
            List<AuditRecord> records = store.history(failed.id());
            assertThat(records.get(0).at()).isEqualTo(entry.createdAt());
            assertThat(records.get(1).at()).isEqualTo(entry.settledAt());
        }
    }

    @Test
    @DisplayName("S2 is over with a late settlement, doubt or a release: those are recorded at every level")
    void exceptions() {
        try (RedisStore store = at(AuditLevel.EXCEPTIONS)) {
            ClaimRequest late = claim("late", Duration.ZERO);
            ClaimRequest unknown = claim("unknown", Duration.ZERO);
            ClaimRequest released = claim("released", Duration.ZERO);
            store.claim(List.of(late, unknown, released));
            store.settle(List.of(settlement(unknown, UNKNOWN), settlement(released, RETRYABLE)));
            clock.advance(LEASE.plus(Duration.ofNanos(1000)));
            store.settle(List.of(Calls.completed(late)));
            assertThat(records()).isEqualTo(3);
            completed(store, "released", Duration.ZERO);
            assertThat(records()).isEqualTo(4);
            assertThat(history(store, "late")).containsExactly(CLAIMED, SETTLED);
            assertThat(history(store, "unknown")).containsExactly(CLAIMED, "1 PROCESSING>UNKNOWN node-1: done");
            assertThat(history(store, "released"))
                    .containsExactly(
                            CLAIMED,
                            "1 PROCESSING>RETRYABLE node-1: done",
                            "2 RETRYABLE>PROCESSING node-1: claimed",
                            "2 PROCESSING>COMPLETED node-1: done");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T3 S2 is still in the audit after a purge, unless exceptions are all that is asked for")
    void purged(AuditLevel level) {
        List<String> expected = level == AuditLevel.ALL ? List.of(CLAIMED, SETTLED) : List.of();
        try (RedisStore store = at(AuditLevel.EXCEPTIONS);
                RedisStore node = at(level)) {
            completed(store, "deleted", Duration.ZERO);
            completed(store, "kept", TOMBSTONE);
            clock.advance(RETENTION);
            assertThat(history(node, "deleted")).containsExactly(CLAIMED, SETTLED);
            assertThat(node.purge(10)).isEqualTo(2);
            assertThat(history(store, "deleted")).isEqualTo(expected);
            assertThat(history(store, "kept")).isEqualTo(expected);
            clock.advance(TOMBSTONE);
            assertThat(node.purge(10)).isEqualTo(1);
            assertThat(history(store, "kept")).isEqualTo(expected);
            assertThat(store.audit(AuditQuery.all(100))).hasSize(2 * expected.size());
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "T2 S2 is still in the audit after the next claim of the key, unless exceptions are all that is asked for")
    void replaced(AuditLevel level) {
        List<String> before = level == AuditLevel.ALL ? List.of(CLAIMED, SETTLED) : List.of();
        try (RedisStore store = at(AuditLevel.EXCEPTIONS);
                RedisStore node = at(level)) {
            completed(store, "key", Duration.ZERO);
            clock.advance(RETENTION);
            node.claim(List.of(claim("key", Duration.ZERO)));
            assertThat(history(store, "key"))
                    .containsExactlyElementsOf(Stream.concat(
                                    before.stream(),
                                    Stream.of("1 COMPLETED>null node-1: its retention is over", CLAIMED))
                            .toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("R7 S2 is still in the audit after an eviction, at every level")
    void evicted(AuditLevel level) {
        try (RedisStore store = at(level)) {
            ClaimRequest claim = completed(store, "key", Duration.ZERO);
            clock.advance(Duration.ofSeconds(1));
            assertThat(store.evict(claim.id(), "alice", "ticket 42")).isPresent();
            assertThat(history(store, "key")).containsExactly(CLAIMED, SETTLED, "1 COMPLETED>null alice: ticket 42");
            assertThat(store.audit(AuditQuery.all(100))).isEqualTo(store.history(claim.id()));
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2 is on one page of the audit, whichever size pages have")
    void pages(AuditLevel level) {
        try (RedisStore store = at(level)) {
            List<ClaimRequest> claims = IntStream.range(0, 40)
                    .mapToObj(i -> claim("key-" + i, Duration.ZERO))
                    .toList();
            store.claim(claims);
            store.settle(claims.stream().map(Calls::completed).toList());
            for (int limit : List.of(1, 7, 100)) {
                List<AuditRecord> seen = new ArrayList<>();
                AuditQuery query = AuditQuery.all(limit);
                List<AuditRecord> page = store.audit(query);
                while (!page.isEmpty()) {
                    seen.addAll(page);
                    page = store.audit(query.after(page.get(page.size() - 1)));
                }
                assertThat(seen).hasSize(80).doesNotHaveDuplicates();
                for (ClaimRequest claim : claims) {
                    assertThat(seen.stream().filter(r -> r.transition().id().equals(claim.id())))
                            .containsExactlyElementsOf(store.history(claim.id()));
                }
            }
        }
    }

    @Test
    @DisplayName("S2 is recorded as the setting beside the URL says, or the URL itself")
    void options() {
        RedisStoreProvider provider = new RedisStoreProvider();
        for (StoreOptions options : List.of(
                new StoreOptions(server.url(), null, null, null, false, AuditLevel.EXCEPTIONS),
                new StoreOptions(server.url() + "?audit=exceptions", null, null, null, false, AuditLevel.ALL))) {
            try (Store store = provider.open(options)) {
                ClaimRequest claim = Calls.claim("key-" + options.audit());
                store.claim(List.of(claim));
                store.settle(List.of(Calls.completed(claim)));
                assertThat(records()).isZero();
                assertThat(history(store, claim.id().key())).containsExactly(CLAIMED, SETTLED);
            }
        }
    }
}
