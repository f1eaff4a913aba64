package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.Transition;
import dev.onlyonce.testservers.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What lists and finds entries, after somebody has deleted or overwritten it, or the server's clock was set back. */
@DisplayName("An index in Redis")
class LostIndexTest {
    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final EntryQuery UNKNOWN = new EntryQuery(null, null, State.UNKNOWN, null, null, 10);

    private static RedisServer server;
    private static RedisClock clock;

    private final ClaimRequest claim = Calls.claim("key");

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

    private String key(String index) {
        return "onlyonce:{" + clock.partitions().of(claim.id()) + "}:" + index;
    }

    @Test
    @DisplayName("of leases that was deleted gets a dead owner's entry back with the next request for its key")
    void leases() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        assertThat(server.command("DEL", key("leases"))).isEqualTo(":1");
        clock.advance(LEASE);
        assertThat(store.sweep(10)).isEmpty();
        assertThat(store.claim(List.of(Calls.claim("key")))).hasOnlyElementsOfType(ClaimResult.Existing.class);
        assertSwept(store);
    }

    @Test
    @DisplayName(
            "of leases keeps an entry whose settlement was refused half-way, so that it is swept if its owner dies")
    void refusedSettlement() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        server.command("HSET", key("expiries"), "mine", "1");
        assertThat(store.settle(List.of(Calls.completed(claim)))).containsExactly(new SettleResult.Busy());
        assertThat(server.command("DEL", key("expiries"))).isEqualTo(":1");
        assertThat(store.sweep(10)).isEmpty();
        clock.advance(LEASE);
        assertSwept(store);
    }

    private static void assertSwept(Store store) {
        assertThat(store.sweep(10)).extracting(Transition::to).containsExactly(State.UNKNOWN);
        assertThat(store.list(UNKNOWN)).hasSize(1);
    }

    @Test
    @DisplayName("of unknown entries that was deleted gets one back with the next request for its key")
    void unknown() {
        Store store = clock.node(0);
        store.claim(List.of(claim));
        clock.advance(LEASE);
        assertThat(store.sweep(10)).hasSize(1);
        assertThat(server.command("DEL", key("unknown"))).isEqualTo(":1");
        assertThat(store.list(UNKNOWN)).isEmpty();
        store.claim(List.of(Calls.claim("key")));
        assertThat(store.list(UNKNOWN)).extracting(Entry::id).containsExactly(claim.id());
    }

    @Test
    @DisplayName("D11 of expiries that was overwritten keeps a reconciler from its partition alone")
    void resolutions() {
        Store store = clock.node(0);
        List<ClaimRequest> claims =
                IntStream.range(0, 20).mapToObj(i -> Calls.claim("key-" + i)).toList();
        store.claim(claims);
        store.claim(List.of(claim));
        clock.advance(LEASE);
        assertThat(store.sweep(100)).hasSize(21);
        server.command("HSET", key("expiries"), "mine", "1");
        assertThatThrownBy(() -> store.resolve(List.of(absent(claim))))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("WRONGTYPE");
        AtomicInteger asked = new AtomicInteger();
        try (Onlyonce once = Onlyonce.builder(store)
                .operation(
                        "POST /payments",
                        o -> o.reconciler(entry -> {
                            asked.incrementAndGet();
                            return new Reconciler.Finding.Found();
                        }))
                .build()) {
            once.operator().reconcile();
        }
        assertThat(asked).hasValueGreaterThanOrEqualTo(21);
        int bad = clock.partitions().of(claim.id());
        assertThat(store.list(UNKNOWN))
                .isNotEmpty()
                .allMatch(entry -> clock.partitions().of(entry.id()) == bad);
    }

    private static Resolution absent(ClaimRequest claim) {
        return Resolution.absent(claim.id(), 1, "operator", "not there");
    }

    @Test
    @DisplayName("T3 with members whose entries somebody has deleted is rid of them, and purges those that are there")
    void deleted() {
        Store store = clock.node(0);
        List<ClaimRequest> claims = IntStream.range(0, Store.BATCH_MAX)
                .mapToObj(i -> Calls.claim("key-" + i))
                .toList();
        store.claim(claims);
        store.settle(claims.stream().map(Calls::completed).toList());
        server.command("EVAL", "\"for _, k in ipairs(redis.call('KEYS', '*:e:*')) do redis.call('DEL', k) end\"", "0");
        clock.advance(Duration.ofMinutes(1));
        store.claim(List.of(claim));
        store.settle(List.of(Calls.completed(claim)));
        clock.advance(Duration.ofDays(2));
        assertThat(store.purge(100)).isEqualTo(1);
        assertThat(store.countStored(null, 1000)).isZero();
    }

    @Test
    @DisplayName("D1 of leases is swept of as many as are asked for, if they have lapsed")
    void manyLapsed() {
        Store store = clock.node(0);
        for (int batch = 0; batch < 3; batch++) {
            int first = 200 * batch;
            store.claim(IntStream.range(first, first + 200)
                    .mapToObj(i -> Calls.claim("key-" + i))
                    .toList());
        }
        clock.advance(LEASE);
        assertThat(store.sweep(500)).hasSize(500);
        assertThat(store.sweep(500)).hasSize(100);
    }

    @Test
    @DisplayName("S2 of the audit that was deleted keeps as many records again as it may have")
    void deletedAudit() {
        String prefix = "deleted-audit";
        try (RedisStore store = RedisStore.open(server.url() + "?partitions=1&auditRecordsMax=100&prefix=" + prefix)) {
            lives(store, "first-", 120);
            assertThat(server.command("DEL", prefix + ":{0}:audit")).isEqualTo(":1");
            lives(store, "second-", 50);
            // Each has a record that tells of its claim, too.
            assertThat(store.audit(AuditQuery.all(1000))).hasSize(100);
        }
    }

    private static void lives(Store store, String prefix, int count) {
        List<ClaimRequest> claims =
                IntStream.range(0, count).mapToObj(i -> Calls.claim(prefix + i)).toList();
        store.claim(claims);
        claims.forEach(claim -> store.settle(List.of(Calls.completed(claim))));
    }

    @Test
    @DisplayName("S2 of the audit shows every record once when the server's clock was set back")
    void clockSetBack() {
        try (RedisStore store = RedisStore.builder(server.url())
                .prefix("back")
                .partitions(1)
                .timeout(Duration.ofSeconds(20))
                .build()) {
            completed(store, 0);
            String ahead = Instant.now().plus(Duration.ofDays(1)).toEpochMilli() + "-4090";
            assertThat(server.command("XSETID", "back:{0}:audit", ahead)).isEqualTo("+OK");
            for (int i = 1; i < 20; i++) {
                completed(store, i);
            }
            List<AuditRecord> all = new ArrayList<>();
            List<AuditRecord> page = store.audit(AuditQuery.all(3));
            while (!page.isEmpty()) {
                all.addAll(page);
                page = store.audit(AuditQuery.all(3).after(page.get(page.size() - 1)));
            }
            assertThat(all).hasSize(40).doesNotHaveDuplicates();
        }
    }

    private static void completed(Store store, int number) {
        ClaimRequest claim = Calls.claim("key-" + number);
        store.claim(List.of(claim));
        store.settle(List.of(Calls.completed(claim)));
    }
}
