package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.Transition;
import dev.onlyonce.testservers.CassandraCluster;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What nodes leave behind that died, had a wrong clock, or were away for long. */
@DisplayName("A store on Cassandra, among remnants,")
class RemnantsTest {
    private static final Changes CHANGES = new Changes(new Expiry(Duration.ZERO));
    private static final Hand CLOCK = new Hand();

    private static CassandraStore store;

    /** Stands still until it is moved. */
    private static final class Hand implements Clock {
        private final AtomicLong now = new AtomicLong(Micros.of(Duration.ofDays(12_000)));

        @Override
        public long now() {
            return now.get();
        }

        @Override
        public long error() {
            return 0;
        }

        void advance(Duration span) {
            now.addAndGet(Micros.of(span));
        }
    }

    @BeforeAll
    static void open() {
        store = CassandraStore.builder(CassandraCluster.shared().url("remnants"))
                .clock(CLOCK)
                .timeout(Duration.ofSeconds(20))
                .build();
    }

    @AfterAll
    static void close() {
        store.close();
    }

    /** The tests do not see each other's leases. */
    @BeforeEach
    void later() {
        CLOCK.advance(Duration.ofDays(3));
        store.sweep(1000);
        CLOCK.advance(Duration.ofDays(3));
    }

    /** A node that dies between its index rows and its transactions. */
    private static void die(List<ClaimRequest> claims) {
        Link link = new Link(store.session(), ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL);
        Moment moment = new Moment(CLOCK.now(), CLOCK.now(), 3, System.nanoTime());
        List<IndexRow> rows = new ArrayList<>();
        EntryRules.Claim rule = new EntryRules.Claim(CHANGES);
        for (ClaimRequest claim : claims) {
            rows.addAll(rule.guess(claim, moment).orElseThrow().change().index().before());
        }
        new Indexes(link, () -> 0).add(rows, CLOCK.now());
    }

    private static void write(String cql, Object... values) {
        store.session().execute(SimpleStatement.newInstance(cql, values).setConsistencyLevel(ConsistencyLevel.ALL));
    }

    @Test
    @DisplayName("T5 does not end a claim because an evicted entry has come back from a replica that was down for long")
    void resurrected() {
        ClaimRequest claim = Calls.claim("resurrected");
        assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        write(
                "UPDATE entry SET settled = 1, expires = 2, result = 0x01 WHERE tenant = 'acme' AND scope = '' AND key = ?"
                        + " AND record = 00000000-0000-0000-0000-000000000000",
                "resurrected");

        ClaimResult again = store.claim(List.of(Calls.claim("resurrected"))).get(0);

        assertThat(again).isInstanceOfSatisfying(ClaimResult.Existing.class, existing -> {
            assertThat(existing.entry().state()).isEqualTo(State.PROCESSING);
            assertThat(existing.entry().result()).isNull();
        });
    }

    @Test
    @DisplayName("forgets the ids of claims that never came")
    void unborn() {
        ClaimRequest claim = Calls.claim("unborn");
        die(List.of(claim));
        assertThat(store.countStored("acme", 1000)).isPositive();
        int before = store.countStored("acme", 1000);
        CLOCK.advance(Duration.ofMinutes(20));

        assertThat(store.sweep(100)).isEmpty();

        assertThat(store.countStored("acme", 1000)).isEqualTo(before - 1);
    }

    @Test
    @DisplayName("keeps an entry listed when a claim that lost against it is forgotten")
    void lost() {
        ClaimRequest winner = Calls.claim("listed");
        assertThat(store.claim(List.of(winner))).containsExactly(new ClaimResult.Claimed(1));
        die(List.of(Calls.claim("listed")));
        CLOCK.advance(Duration.ofMinutes(20));
        assertThat(store.sweep(100)).hasSize(1);
        assertThat(store.list(EntryQuery.all(1000)))
                .anyMatch(entry -> entry.id().equals(winner.id()));
    }

    @Test
    @DisplayName("finds a lapsed lease behind hundreds of claims that never came")
    void hidden() {
        List<ClaimRequest> never = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            never.add(Calls.claim("never-" + i));
        }
        die(never);
        CLOCK.advance(Duration.ofMinutes(2));
        ClaimRequest abandoned = Calls.claim("abandoned");
        assertThat(store.claim(List.of(abandoned))).containsExactly(new ClaimResult.Claimed(1));
        CLOCK.advance(Duration.ofMinutes(6));

        assertThat(store.sweep(100)).extracting(Transition::id).containsExactly(abandoned.id());
    }

    @Test
    @DisplayName("does not read again, in every sweep, the buckets of the last hour that it has found empty")
    void emptyBuckets() {
        AtomicInteger requests = new AtomicInteger();
        CqlSession counted = (CqlSession) Proxy.newProxyInstance(
                CqlSession.class.getClassLoader(), new Class<?>[] {CqlSession.class}, (proxy, method, arguments) -> {
                    requests.addAndGet(method.getName().equals("executeAsync") ? 1 : 0);
                    return method.invoke(store.session(), arguments);
                });
        IndexRow.Kind kind = IndexRow.Kind.LEASE;
        for (int minutes = 0; minutes < 50; minutes++) {
            long bucket = kind.bucket(CLOCK.now() - Micros.of(Duration.ofMinutes(minutes)));
            write("INSERT INTO bucket (kind, bucket) VALUES (?, ?)", (byte) kind.code(), bucket);
        }
        Link link = new Link(counted, ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL);
        Calendar calendar = new Calendar(link, 16, () -> 0);
        assertThat(calendar.due(kind, CLOCK.now(), 100)).isEmpty();
        requests.set(0);

        assertThat(calendar.due(kind, CLOCK.now(), 100)).isEmpty();

        assertThat(requests).hasValueLessThanOrEqualTo(1 + 2 * 16);
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @DisplayName("T5 ends a purge of the audit although rows outlive their deletion, because a node's clock was fast")
    void undeletable() {
        ClaimRequest claim = Calls.claim("undeletable");
        store.claim(List.of(claim));
        store.settle(List.of(Calls.completed(claim)));
        long future = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()) + Micros.of(Duration.ofHours(1));
        for (Row row : store.session().execute("SELECT * FROM due")) {
            if ("undeletable".equals(row.getString("key")) && row.getByte("kind") == IndexRow.Kind.AUDIT.code()) {
                write(
                        "INSERT INTO due (kind, bucket, shard, at, tenant, scope, key, mark, home)"
                                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP " + future,
                        row.getByte("kind"),
                        row.getLong("bucket"),
                        row.getShort("shard"),
                        row.getLong("at"),
                        row.getString("tenant"),
                        row.getString("scope"),
                        row.getString("key"),
                        row.getUuid("mark"),
                        row.getShort("home"));
            }
        }
        CLOCK.advance(Duration.ofHours(2));

        assertThat(store.purgeAudit(Duration.ofHours(1), 1000)).isGreaterThanOrEqualTo(2);
        assertThat(store.history(claim.id())).isEmpty();
    }

    @Test
    @DisplayName("takes and sweeps other entries beside one that it cannot read")
    void unreadable() {
        ClaimRequest bad = Calls.claim("unreadable");
        assertThat(store.claim(List.of(bad))).containsExactly(new ClaimResult.Claimed(1));
        write(
                "UPDATE entry SET state = 99 WHERE tenant = 'acme' AND scope = '' AND key = ?"
                        + " AND record = 00000000-0000-0000-0000-000000000000",
                "unreadable");
        ClaimRequest good = Calls.claim("readable");
        assertThat(store.claim(List.of(Calls.claim("unreadable"), good)))
                .hasExactlyElementsOfTypes(ClaimResult.Unavailable.class, ClaimResult.Claimed.class);
        List<ClaimRequest> alone = List.of(Calls.claim("unreadable"));
        assertThatThrownBy(() -> store.claim(alone))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("unknown state code 99");
        CLOCK.advance(Duration.ofMinutes(6));

        assertThat(store.sweep(100)).extracting(Transition::id).containsExactly(good.id());

        EntryId id = bad.id();
        write("DELETE FROM entry WHERE tenant = ? AND scope = ? AND key = ?", id.tenant(), id.scope(), id.key());
    }

    @Test
    @DisplayName("D11 leaves an entry and a record that cannot be read out of its lists, and shows all others")
    void unreadableInLists() {
        List<ClaimRequest> claims = IntStream.range(0, 5)
                .mapToObj(i -> Calls.claim("unreadable-" + i))
                .toList();
        store.claim(claims);
        store.settle(claims.stream().map(Calls::completed).toList());
        String where = " WHERE tenant = 'acme' AND scope = '' AND key = 'unreadable-2' AND record = ";
        UUID record = store
                .session()
                .execute("SELECT record, at FROM entry WHERE tenant = 'acme' AND scope = '' AND key = 'unreadable-2'")
                .all()
                .stream()
                .filter(row -> !row.isNull("at"))
                .map(row -> row.getUuid("record"))
                .findFirst()
                .orElseThrow();
        write("UPDATE entry SET state = 99" + where + "00000000-0000-0000-0000-000000000000");
        write("UPDATE entry SET to_state = 99" + where + record);

        assertThat(store.list(EntryQuery.all(1000)))
                .extracting(entry -> entry.id().key())
                .filteredOn(key -> key.startsWith("unreadable-"))
                .containsExactly("unreadable-0", "unreadable-1", "unreadable-3", "unreadable-4");
        assertThat(store.history(claims.get(2).id())).hasSize(1);
        assertThat(store.audit(AuditQuery.all(1000)))
                .extracting(each -> each.transition().id().key())
                .contains("unreadable-0", "unreadable-1", "unreadable-3", "unreadable-4");
        assertThatThrownBy(() -> store.find(List.of(claims.get(2).id()))).isInstanceOf(StoreRejected.class);
        assertThat(store.find(List.of(claims.get(3).id())).get(0)).isPresent();
        write("DELETE FROM entry WHERE tenant = 'acme' AND scope = '' AND key = 'unreadable-2'");
    }
}
