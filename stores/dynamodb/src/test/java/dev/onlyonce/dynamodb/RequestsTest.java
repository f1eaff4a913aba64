package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.DynamoDbServer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The requests to DynamoDB")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
class RequestsTest {
    private static final AtomicInteger TABLES = new AtomicInteger();
    private static DynamoDbServer server;
    private static Relay relay;

    @BeforeAll
    static void start() {
        server = DynamoDbServer.shared();
        relay = new Relay(server.endpoint());
    }

    @AfterAll
    static void stop() {
        relay.close();
    }

    private static DynamoDbStore.Builder builder(String table) {
        return DynamoDbStore.builder(
                        "dynamodb:" + table + "?region=eu-central-1&timeout=5s&endpoint=" + relay.endpoint())
                .credentials("local", "local")
                .create(true);
    }

    private static DynamoDbStore open() {
        relay.script(step -> step);
        DynamoDbStore store = builder("requests-" + TABLES.incrementAndGet()).build();
        relay.seen();
        return store;
    }

    @Test
    @DisplayName("are one for a claim, one for a settlement, one for a replay, one for a heartbeat")
    void counts() {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("key");
            assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
            assertThat(relay.seen()).containsExactly("PutItem");
            // Longer: what is known of the service's clock may put "now" before the claim by some milliseconds.
            Duration longer = Calls.LEASE.plusMinutes(1);
            assertThat(store.renew(List.of(new Renewal(claim.id(), claim.token(), longer))))
                    .containsExactly(RenewResult.RENEWED);
            assertThat(relay.seen()).containsExactly("UpdateItem");
            assertThat(store.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
            assertThat(relay.seen()).containsExactly("UpdateItem");
            assertThat(store.claim(List.of(Calls.claim("key"))).get(0)).isInstanceOf(ClaimResult.Existing.class);
            assertThat(relay.seen()).containsExactly("PutItem");
        }
    }

    @Test
    @DisplayName("of an engine are two for a fresh operation, and none for a replay from its cache")
    void engine() {
        try (DynamoDbStore store = open();
                Onlyonce once = Onlyonce.builder(store)
                        .sweepEvery(Duration.ofHours(1))
                        .purgeEvery(Duration.ofHours(1))
                        .build()) {
            Key key = Key.of("acme", "POST /payments", "key");
            Fingerprint fingerprint = Fingerprint.of(new byte[] {1});
            once.execute(key, fingerprint, String.class, claim -> "paid");
            assertThat(relay.seen()).containsExactly("PutItem", "UpdateItem");
            assertThat(once.execute(key, fingerprint, String.class, claim -> "again"))
                    .isInstanceOf(Outcome.Replayed.class);
            assertThat(relay.seen()).isEmpty();
        }
    }

    @Test
    @DisplayName("of a sweep that finds nothing are two for each shard: what has lapsed, and the lease that ends last")
    void idleSweep() {
        try (DynamoDbStore store = open()) {
            for (int sweep = 1; sweep <= 2; sweep++) {
                assertThat(store.sweep(100)).isEmpty();
                assertThat(relay.seen()).isEqualTo(Collections.nCopies(2 * ItemKey.SHARDS, "Query"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"})
    @DisplayName(
            "D9 that are throttled are unavailable, not unknown, after a bounded number of tries with the same token")
    void throttled(String code) {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("key");
            relay.script(step -> step.refused(code));
            assertThat(store.claim(List.of(claim)).get(0))
                    .isInstanceOfSatisfying(
                            ClaimResult.Unavailable.class,
                            refused -> assertThat(refused.why()).contains(code));
            assertThat(relay.seen()).containsExactly("PutItem", "PutItem", "PutItem");
            assertThatThrownBy(() -> store.find(List.of(claim.id()))).isInstanceOf(StoreBusy.class);
            relay.script(step -> step);
            assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
            relay.script(step -> step.refused(code));
            assertThat(store.settle(List.of(Calls.completed(claim)))).containsExactly(new SettleResult.Busy());
            relay.script(step -> step);
            assertThat(store.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
        }
    }

    @Test
    @DisplayName(
            "D9 of an engine that are throttled run nothing: a claim is refused, its key is not in flight, a result is recorded late")
    void throttledEngine() {
        try (DynamoDbStore store = open();
                Onlyonce once = Onlyonce.builder(store).cacheBytesMax(0).build()) {
            Key key = Key.of("acme", "POST /payments", "key");
            Fingerprint fingerprint = Fingerprint.of(new byte[] {1});
            AtomicInteger runs = new AtomicInteger();
            relay.script(step -> step.refused("ThrottlingException"));
            assertThatThrownBy(() ->
                            once.execute(key, fingerprint, String.class, claim -> "paid " + runs.incrementAndGet()))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("ThrottlingException");
            assertThat(runs).hasValue(0);
            relay.script(step -> step);
            AtomicInteger settlements = new AtomicInteger();
            assertThat(once.execute(key, fingerprint, String.class, claim -> {
                        relay.script(step -> step.operation().equals("UpdateItem") && settlements.incrementAndGet() <= 3
                                ? step.refused("ThrottlingException")
                                : step);
                        return "paid " + runs.incrementAndGet();
                    }))
                    .isInstanceOf(Outcome.Executed.class);
            assertThat(once.execute(key, fingerprint, String.class, claim -> "paid " + runs.incrementAndGet()))
                    .isInstanceOf(Outcome.Replayed.class);
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    @DisplayName("C4 whose answer is lost are sent again, and what the first one did is recognised")
    void lostOnce() {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("key");
            AtomicInteger calls = new AtomicInteger();
            relay.script(step -> calls.getAndIncrement() == 0 ? step.lost() : step);
            assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
            calls.set(0);
            assertThat(store.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
            assertThat(store.history(claim.id())).hasSize(2);
        }
    }

    @Test
    @DisplayName("C4 whose answers stay lost are unknown, and a repeated call finds what they did")
    void lost() {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("key");
            relay.script(Relay.Step::lost);
            assertThatThrownBy(() -> store.claim(List.of(claim))).isInstanceOf(StoreOutcomeUnknown.class);
            relay.script(step -> step);
            assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
            relay.script(Relay.Step::lost);
            assertThatThrownBy(() -> store.settle(List.of(Calls.completed(claim))))
                    .isInstanceOf(StoreOutcomeUnknown.class);
            relay.script(step -> step);
            assertThat(store.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
            assertThat(store.history(claim.id())).hasSize(2);
        }
    }

    @Test
    @DisplayName("T5 date the entries: a lease lapses when the service's clock says so, whatever this node's shows")
    void servicesClock() {
        relay.script(step -> step.dated("Tue, 01 Jan 2075 12:00:00 GMT"));
        try (DynamoDbStore store =
                builder("requests-" + TABLES.incrementAndGet()).build()) {
            ClaimRequest claim = Calls.claim("key");
            store.claim(List.of(claim));
            assertThat(store.find(List.of(claim.id())).get(0).orElseThrow().createdAt())
                    .isBetween("2075-01-01T11:59:59Z", "2075-01-01T12:05:00Z");
            assertThat(store.sweep(10)).isEmpty();
            relay.script(step -> step.dated("Tue, 01 Jan 2075 12:04:50 GMT"));
            store.checkWritable();
            assertThat(store.sweep(10)).isEmpty();
            relay.script(step -> step.dated("Tue, 01 Jan 2075 12:06:00 GMT"));
            store.checkWritable();
            store.checkWritable();
            assertThat(store.sweep(10)).hasSize(1);
        }
    }

    @Test
    @DisplayName("T5 that a proxy answers with an error page of another date end no lease")
    void proxysClock() {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("key");
            store.claim(List.of(claim));
            relay.script(step -> step.page().dated("Tue, 01 Jan 2075 12:00:00 GMT"));
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(store::checkWritable).isInstanceOf(StoreUnavailable.class);
            }
            relay.script(step -> step);
            assertThat(store.sweep(10)).isEmpty();
        }
    }

    @Test
    @DisplayName("of sweeps and purges go on behind what a late index still has")
    void lateIndex() {
        ManualClock clock = new ManualClock();
        relay.script(step -> step.operation().equals("Query") ? step.stale() : step);
        try (DynamoDbStore store =
                builder("requests-" + TABLES.incrementAndGet()).clock(clock).build()) {
            List<ClaimRequest> claims = IntStream.range(0, 50)
                    .mapToObj(i -> Calls.claim("key-" + i))
                    .toList();
            store.claim(claims);
            clock.advance(Calls.LEASE);
            assertThat(store.sweep(20)).hasSize(20);
            assertThat(store.sweep(20)).hasSize(20);
            assertThat(store.sweep(20)).hasSize(10);

            List<ClaimRequest> others = IntStream.range(0, 50)
                    .mapToObj(i -> Calls.claim("other-" + i))
                    .toList();
            store.claim(others);
            store.settle(others.stream().map(Calls::completed).toList());
            clock.advance(Calls.RETENTION);
            assertThat(store.purge(20)).isEqualTo(20);
            assertThat(store.purge(20)).isEqualTo(20);
            assertThat(store.purge(20)).isEqualTo(10);

            clock.advance(Calls.RETENTION);
            int[] purged = new int[6];
            for (int i = 0; i < purged.length; i++) {
                purged[i] = store.purgeAudit(Calls.RETENTION, 30);
            }
            assertThat(purged).containsExactly(30, 30, 30, 30, 30, 30);
        }
    }

    @Test
    @DisplayName("R4 record the largest result of a key with the longest names and the longest audit")
    void largest() {
        String name = "\u20ac".repeat(255);
        EntryId id = new EntryId(name, name, name);
        Fingerprint fingerprint = Fingerprint.of(new byte[] {1}).about("\u20ac".repeat(1000));
        try (DynamoDbStore store = open()) {
            ClaimRequest last = null;
            for (int i = 0; i < 30; i++) {
                Terms terms = new Terms(Calls.LEASE, OnLeaseLost.UNKNOWN, Calls.RETENTION, Calls.RETENTION);
                last = new ClaimRequest(id, name, fingerprint, UUID.randomUUID(), name, terms, State.PROCESSING);
                assertThat(store.claim(List.of(last))).containsExactly(new ClaimResult.Claimed(i + 1));
                if (i < 29) {
                    store.settle(List.of(
                            Settlement.of(id, last.token(), State.RETRYABLE, Optional.empty(), "\u20ac".repeat(500))));
                }
            }
            byte[] result = new byte[DynamoDbStore.RESULT_BYTES_MAX];
            assertThat(store.settle(List.of(Settlement.of(
                                    id, last.token(), State.COMPLETED, Optional.of(result), "\u20ac".repeat(500))))
                            .get(0))
                    .isInstanceOf(SettleResult.Settled.class);
            assertThat(store.find(List.of(id)).get(0).orElseThrow().result()).hasSize(result.length);
            assertThat(store.evict(id, name, "\u20ac".repeat(500))).isPresent();
        }
    }

    @Test
    @DisplayName("N4 for an id with half a surrogate pair find no other entry")
    void halfPairs() {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("?");
            store.claim(List.of(claim));
            store.settle(List.of(Calls.completed(claim)));
            EntryId half = new EntryId("acme", "", "\ud800");
            assertThat(store.find(List.of(half)).get(0)).isEmpty();
            assertThat(store.evict(half, "operator", "a test")).isEmpty();
            assertThat(store.find(List.of(claim.id())).get(0)).isPresent();
        }
    }

    @Test
    @DisplayName("R4 record a result that an item cannot hold without its bytes, and the entry never runs again")
    void tooLarge() {
        try (DynamoDbStore store = open()) {
            ClaimRequest claim = Calls.claim("key");
            store.claim(List.of(claim));
            byte[] large = Envelope.value(new byte[1 << 20]);
            assertThat(store.settle(List.of(Calls.settlement(claim, State.COMPLETED, Optional.of(large))))
                            .get(0))
                    .isInstanceOf(SettleResult.Settled.class);
            ClaimResult retry = store.claim(List.of(Calls.claim("key"))).get(0);
            assertThat(retry).isInstanceOfSatisfying(ClaimResult.Existing.class, existing -> {
                assertThat(existing.entry().state()).isEqualTo(State.COMPLETED);
                assertThat(Envelope.open(existing.entry().result()))
                        .isInstanceOfSatisfying(
                                Envelope.Content.Failed.class,
                                failed -> assertThat(failed.failure().code()).isEqualTo(Failure.RESULT_NOT_STORED));
            });
        }
    }

    @Test
    @DisplayName(
            "T3 leave ordinary entries to native TTL where the audit keeps exceptions only, and keep the exceptions")
    void exceptions() {
        ManualClock clock = new ManualClock();
        relay.script(step -> step);
        try (DynamoDbStore store = builder("requests-" + TABLES.incrementAndGet())
                .audit(AuditLevel.EXCEPTIONS)
                .clock(clock)
                .build()) {
            ClaimRequest ordinary = Calls.claim("ordinary");
            ClaimRequest late = Calls.claim("late");
            ClaimRequest released = Calls.claim("released");
            store.claim(List.of(ordinary, late, released));
            store.settle(List.of(Calls.completed(ordinary)));
            store.settle(List.of(Calls.settlement(released, State.RETRYABLE, Optional.empty())));
            clock.advance(Calls.LEASE.plusSeconds(1));
            store.settle(List.of(Calls.completed(late)));
            Map<String, ?> stored = store.item(ordinary.id()).orElseThrow().values();
            assertThat(stored).containsKey(Attribute.TTL).doesNotContainKeys(Attribute.DUE_KIND, Attribute.DUE_AT);
            assertThat(store.item(ordinary.id()).orElseThrow().number(Attribute.TTL) * 1_000_000)
                    .isGreaterThanOrEqualTo(
                            store.item(ordinary.id()).orElseThrow().ending());
            assertThat(store.item(late.id()).orElseThrow().values()).doesNotContainKey(Attribute.TTL);
            assertThat(store.history(ordinary.id())).hasSize(2);

            clock.advance(Calls.RETENTION);
            assertThat(store.find(List.of(ordinary.id())).get(0)).isEmpty();
            assertThat(store.purge(10)).isEqualTo(2);
            assertThat(store.history(late.id())).hasSize(2);
            assertThat(store.history(released.id())).hasSize(2);
            assertThat(store.claim(List.of(Calls.claim("ordinary")))).containsExactly(new ClaimResult.Claimed(1));
            assertThat(store.history(ordinary.id())).hasSize(1);
        }
    }
}
