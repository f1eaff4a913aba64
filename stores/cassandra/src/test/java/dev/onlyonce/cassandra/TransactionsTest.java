package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.SettleResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What an operation costs, and what Cassandra does by itself. */
@DisplayName("A store on Cassandra")
class TransactionsTest {
    private static final Fingerprint PRINT = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static CassandraStore store;

    @BeforeAll
    static void open() {
        store = CassandraStore.open(Keyspaces.transactions());
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Test
    @DisplayName("runs a fresh operation with two lightweight transactions, and answers its repetition with one")
    void two() {
        try (Onlyonce once = Onlyonce.builder(store).cacheBytesMax(0).build()) {
            long before = store.transactions();
            Key key = Key.of("acme", "POST /payments", "two");
            assertThat(once.execute(key, PRINT, String.class, claim -> "paid")).isInstanceOf(Outcome.Executed.class);
            assertThat(store.transactions() - before).isEqualTo(2);
            assertThat(once.execute(key, PRINT, String.class, claim -> "paid twice")
                            .orElseThrow())
                    .isEqualTo("paid");
            assertThat(store.transactions() - before).isEqualTo(3);
        }
    }

    @Test
    @DisplayName("sends a full batch as two transactions for each entry")
    void batch() {
        List<ClaimRequest> claims = java.util.stream.IntStream.range(0, 100)
                .mapToObj(i -> Calls.claim("batch-" + i))
                .toList();
        long before = store.transactions();
        assertThat(store.claim(claims)).containsOnly(new ClaimResult.Claimed(1));
        assertThat(store.settle(claims.stream().map(Calls::completed).toList()))
                .allMatch(SettleResult.Settled.class::isInstance);
        assertThat(store.transactions() - before).isBetween(200L, 210L);
    }

    @Test
    @DisplayName("settles a claim of another node after reading it")
    void anotherNodesClaim() {
        ClaimRequest claim = Calls.claim("handed-over");
        try (CassandraStore other = CassandraStore.open(Keyspaces.transactions())) {
            assertThat(other.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        }
        assertThat(store.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
        assertThat(store.history(claim.id())).hasSize(2);
    }

    @Test
    @DisplayName("settles from memory the entry that it claimed, and no later one of the key with the same claim")
    void anotherLife() {
        ClaimRequest claim = Calls.claim("another-life");
        assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        try (CassandraStore other = CassandraStore.open(Keyspaces.transactions())) {
            other.evict(claim.id(), "operator", "a test");
            assertThat(other.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        }
        Entry second = store.find(List.of(claim.id())).get(0).orElseThrow();
        assertThat(store.settle(List.of(Calls.completed(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
        Entry settled = store.find(List.of(claim.id())).get(0).orElseThrow();
        assertThat(settled.createdAt()).isEqualTo(second.createdAt());
    }

    @Test
    @DisplayName("T3 has Cassandra remove an entry by itself, and then removes its index rows")
    void nativeExpiry() {
        String url = Keyspaces.transactions() + "?clockTolerance=1s";
        try (CassandraStore brief = CassandraStore.open(url)) {
            ClaimRequest claim = Calls.claim("brief", Duration.ofSeconds(1));
            brief.claim(List.of(claim));
            brief.settle(List.of(Calls.completed(claim)));
            long before = brief.transactions();
            eventually(() -> brief
                    .session()
                    .execute("SELECT state FROM entry WHERE tenant = 'acme' AND scope = '' AND key = 'brief'")
                    .all()
                    .stream()
                    .allMatch(row -> row.isNull("state")));
            eventually(() -> brief.purge(10) == 1);
            assertThat(brief.transactions()).as("no transaction was needed").isEqualTo(before);
            assertThat(brief.list(EntryQuery.all(1000)))
                    .extracting(entry -> entry.id().key())
                    .doesNotContain("brief");
            assertThat(brief.session()
                            .execute("SELECT key FROM listed WHERE key = 'brief' ALLOW FILTERING")
                            .all())
                    .as("index rows")
                    .isEmpty();
            assertThat(brief.history(claim.id())).as("the audit outlives it").hasSize(2);
            assertThat(brief.claim(List.of(Calls.claim("brief")))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName(
            "T3 keeps a result as long as its entry if there is no tombstone, and for the retention alone if there is one")
    void lives() {
        ClaimRequest plain = Calls.claim("plain", Duration.ofHours(1), Duration.ZERO);
        ClaimRequest buried = Calls.claim("buried", Duration.ofHours(1), Duration.ofHours(2));
        store.claim(List.of(plain, buried));
        store.settle(List.of(Calls.completed(plain), Calls.completed(buried)));
        assertThat(store.find(List.of(plain.id(), buried.id())))
                .extracting(entry -> new String(entry.orElseThrow().result(), StandardCharsets.UTF_8))
                .containsExactly("plain", "buried");
        assertThat(life(plain, "result")).isCloseTo(life(plain, "state"), within(2));
        assertThat(life(buried, "result")).isCloseTo(life(buried, "state") - 2 * 3600, within(2));
    }

    /** For how many more seconds Cassandra keeps a column of an entry. */
    private static int life(ClaimRequest claim, String column) {
        return store.session()
                .execute(
                        "SELECT TTL(" + column + ") FROM entry WHERE tenant = 'acme' AND scope = '' AND key = ?"
                                + " AND record = 00000000-0000-0000-0000-000000000000",
                        claim.id().key())
                .one()
                .getInt(0);
    }

    @Test
    @DisplayName("T5 takes the median of the nodes' clocks, which is the time, and knows its error")
    void clock() {
        ClusterClock clock = new ClusterClock(store.session());
        long off = Math.abs(clock.now() - System.currentTimeMillis() * 1000);
        assertThat(off).isLessThan(clock.error() + Micros.of(Duration.ofMillis(500)));
        assertThat(clock.error()).isBetween(1L, Micros.of(Duration.ofSeconds(10)));
    }

    private static void eventually(java.util.function.BooleanSupplier condition) {
        long giveUp = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - giveUp).as("in time").isNegative();
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }
}
