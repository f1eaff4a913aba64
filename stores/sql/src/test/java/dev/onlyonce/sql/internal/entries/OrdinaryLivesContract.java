package dev.onlyonce.sql.internal.entries;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Policy;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.DatabaseContract;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Terms;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An ordinary life leaves no audit row while its entry stands, and everybody sees its records all the same. */
abstract class OrdinaryLivesContract extends DatabaseContract {
    static final Duration MICRO = Duration.ofNanos(1000);

    private static final String CLAIMED = "1 null>PROCESSING node: claimed";
    private static final String SETTLED = "1 PROCESSING>COMPLETED node: test";
    private static final Terms KEPT =
            new Terms(Claims.LEASE, OnLeaseLost.UNKNOWN, Claims.RETENTION, Duration.ofHours(1));

    private SqlClock clock;
    private SqlStore store;

    OrdinaryLivesContract(TestDatabase database) {
        super(database);
    }

    @BeforeEach
    final void open() {
        SqlStore.open(dataSource()).close();
        clock = SqlClock.start(dataSource());
        store = SqlClock.store(dataSource()).build();
        SqlClock.execute(
                dataSource(), "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0", "DELETE FROM onlyonce_audit");
    }

    @AfterEach
    final void close() {
        store.close();
    }

    final SqlStore store() {
        return store;
    }

    final SqlClock clock() {
        return clock;
    }

    private SqlStore at(AuditLevel level) {
        return SqlClock.store(dataSource()).audit(level).build();
    }

    private static ClaimRequest leased(String key, Duration lease) {
        return Claims.claim(key, new Terms(lease, OnLeaseLost.UNKNOWN, Claims.RETENTION, Duration.ZERO));
    }

    private void completed(ClaimRequest claim) {
        store.claim(List.of(claim));
        store.settle(Claims.complete(List.of(claim)));
    }

    private long rows() {
        return SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_audit");
    }

    private List<String> history(String key) {
        return Claims.history(store, Key.of("tenant", "POST /payments", key));
    }

    @Test
    @DisplayName("S2 a settlement as completed or failed within the lease, alone or in a batch, has records and no row")
    void noRow() {
        completed(Claims.claim("alone"));
        List<ClaimRequest> claims = Claims.claims("batch", 3);
        store.claim(claims);
        clock.advance(Claims.LEASE);
        store.settle(Stream.concat(
                        Claims.complete(claims.subList(0, 2)).stream(), Stream.of(Claims.settle(claims.get(2), FAILED)))
                .toList());
        assertThat(rows()).isZero();
        assertThat(history("alone")).containsExactly(CLAIMED, SETTLED);
        assertThat(history("batch1")).containsExactly(CLAIMED, SETTLED);
        assertThat(history("batch2")).containsExactly(CLAIMED, "1 PROCESSING>FAILED node: test");
        assertThat(store.audit(AuditQuery.all(100))).hasSize(8);
    }

    @Test
    @DisplayName("S2 a settlement a microsecond after its lease has a row of its own")
    void late() {
        ClaimRequest one = Claims.claim("one");
        List<ClaimRequest> many = Claims.claims("many", 2);
        store.claim(List.of(one));
        store.claim(many);
        clock.advance(Claims.LEASE.plus(MICRO));
        store.settle(Claims.complete(List.of(one)));
        store.settle(Claims.complete(many));
        assertThat(rows()).isEqualTo(3);
        assertThat(history("one")).containsExactly(CLAIMED, SETTLED);
        assertThat(history("many1")).containsExactly(CLAIMED, SETTLED);
    }

    @Test
    @DisplayName("S2 a settlement more than five minutes before its lease ends has a row: no listing would find it")
    void longLease() {
        ClaimRequest early = leased("early", Duration.ofMinutes(5).plus(MICRO));
        ClaimRequest intime = leased("intime", Duration.ofMinutes(5));
        ClaimRequest renewed = Claims.claim("renewed");
        store.claim(List.of(early, intime, renewed));
        store.renew(List.of(new Renewal(renewed.id(), renewed.token(), Duration.ofMinutes(6))));
        store.settle(Claims.complete(List.of(early, intime, renewed)));
        assertThat(rows()).isEqualTo(2);
        assertThat(history("intime")).containsExactly(CLAIMED, SETTLED);
        assertThat(history("renewed")).containsExactly(CLAIMED, SETTLED);
        assertThat(store.audit(AuditQuery.all(100))).hasSize(6);
    }

    @Test
    @DisplayName("S2 doubt, release and the next claim have rows; the settlement of a later attempt has none")
    void laterAttempt() {
        ClaimRequest first = Claims.claim("key");
        ClaimRequest second = Claims.claim("key");
        store.claim(List.of(first));
        store.settle(List.of(Claims.settle(first, RETRYABLE)));
        store.claim(List.of(second));
        assertThat(rows()).isEqualTo(2);
        store.settle(Claims.complete(List.of(second)));
        assertThat(rows()).isEqualTo(2);
        ClaimRequest unknown = Claims.claim("unknown");
        store.claim(List.of(unknown));
        store.settle(List.of(Claims.settle(unknown, UNKNOWN)));
        assertThat(rows()).isEqualTo(3);
        assertThat(history("key"))
                .containsExactly(
                        CLAIMED,
                        "1 PROCESSING>RETRYABLE node: test",
                        "2 RETRYABLE>PROCESSING node: claimed",
                        "2 PROCESSING>COMPLETED node: test");
        assertThat(store.audit(AuditQuery.all(100))).hasSize(6);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "T3 S2 a purge leaves the record of an ordinary life behind, unless exceptions are all that is asked for")
    void purged(AuditLevel level) {
        completed(Claims.claim("deleted"));
        completed(Claims.claim("kept", KEPT));
        List<String> expected = level == AuditLevel.ALL ? List.of(CLAIMED, SETTLED) : List.of();
        clock.advance(Claims.RETENTION);
        try (SqlStore node = at(level)) {
            assertThat(node.purge(10)).isEqualTo(2);
            assertThat(history("deleted")).isEqualTo(expected);
            assertThat(history("kept")).isEqualTo(expected);
            clock.advance(KEPT.tombstone());
            assertThat(node.purge(10)).isEqualTo(1);
        }
        assertThat(history("kept")).isEqualTo(expected);
        assertThat(rows()).isEqualTo(expected.size());
        assertThat(store.audit(AuditQuery.all(100))).hasSize(2 * expected.size());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "T2 S2 a new claim past retention ends the record of an ordinary life, and that of the new life begins")
    void replaced(AuditLevel level) {
        completed(Claims.claim("key"));
        clock.advance(Claims.RETENTION);
        try (SqlStore node = at(level)) {
            node.claim(List.of(Claims.claim("key")));
        }
        List<String> before = level == AuditLevel.ALL ? List.of(CLAIMED, SETTLED) : List.of();
        assertThat(history("key"))
                .containsExactlyElementsOf(Stream.concat(
                                before.stream(), Stream.of("1 COMPLETED>null node: its retention is over", CLAIMED))
                        .toList());
        assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_entry WHERE settled_why IS NOT NULL"))
                .isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("R7 S2 an eviction leaves the whole record behind at every level")
    void evicted(AuditLevel level) {
        completed(Claims.claim("key"));
        clock.advance(Duration.ofSeconds(1));
        try (SqlStore node = at(level)) {
            assertThat(node.evict(Claims.id("key"), "alice", "ticket 42")).isPresent();
        }
        assertThat(history("key")).containsExactly(CLAIMED, SETTLED, "1 COMPLETED>null alice: ticket 42");
        assertThat(store.audit(AuditQuery.all(100))).isEqualTo(store.history(Claims.id("key")));
    }

    @Test
    @DisplayName("S2 a transaction that settles leaves no row; rolled back, it leaves no record")
    void inTransaction() throws Exception {
        Key kept = Key.of("tenant", "POST /payments", "kept");
        Key undone = Key.of("tenant", "POST /payments", "undone");
        for (Key key : List.of(kept, undone)) {
            try (Connection connection = dataSource().getConnection()) {
                connection.setAutoCommit(false);
                Ways.transactions(store, Policy.standard())
                        .execute(connection, key, Claims.claim("key").fingerprint(), Codec.text(), tx -> "paid");
                if (key.equals(kept)) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
                connection.setAutoCommit(true);
            }
        }
        assertThat(rows()).isZero();
        assertThat(store.history(kept.entryId())).hasSize(2);
        assertThat(store.history(undone.entryId())).isEmpty();
    }

    @Test
    @DisplayName("S2 sealed results and their records live and end side by side")
    void sealed() {
        try (SqlStore sealing = SqlClock.store(dataSource())
                .encryption(Encryption.with(1, new byte[32]))
                .build()) {
            ClaimRequest claim = Claims.claim("key");
            sealing.claim(List.of(claim));
            sealing.settle(Claims.complete(List.of(claim)));
            assertThat(rows()).isZero();
            assertThat(history("key")).containsExactly(CLAIMED, SETTLED);
            clock.advance(Claims.RETENTION);
            sealing.purge(10);
            assertThat(history("key")).containsExactly(CLAIMED, SETTLED);
        }
    }

    @Test
    @DisplayName("S2 a resolution of an entry whose earlier life was ordinary tells nothing of that life again")
    void resolvedLater() {
        completed(Claims.claim("key"));
        clock.advance(Claims.RETENTION);
        ClaimRequest next = Claims.claim("key");
        store.claim(List.of(next));
        // As an older node leaves it that does not know the column.
        SqlClock.execute(dataSource(), "UPDATE onlyonce_entry SET settled_why = 'stale'");
        clock.advance(Claims.LEASE);
        assertThat(store.sweep(10)).hasSize(1);
        store.resolve(List.of(new Resolution(next.id(), 1, COMPLETED, null, "alice", "found")));
        assertThat(history("key"))
                .containsExactly(
                        CLAIMED,
                        SETTLED,
                        "1 COMPLETED>null node: its retention is over",
                        CLAIMED,
                        "1 PROCESSING>UNKNOWN sweeper: the lease ran out",
                        "1 UNKNOWN>COMPLETED alice: found");
    }
}
