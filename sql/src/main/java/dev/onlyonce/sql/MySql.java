package dev.onlyonce.sql;

import dev.onlyonce.State;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * MySQL 8 and MariaDB 10.6 and newer, in what both understand. Neither tells which rows a statement over many has changed,
 * so in the same transaction the rows are read back: whose token stands there has the entry.
 *
 * <p>In a statement, the part between {@code each} and the comment that ends it is there once for every row of the batch;
 * that comment is what comes between them. {@code STRAIGHT_JOIN} makes the batch drive the look-ups, whatever the
 * statistics say.
 */
final class MySql implements Database {
    static final Columns COLUMNS = Columns.BYTES;

    /** Bounds a statement, lock waits included. */
    private static final int STATEMENT_TIMEOUT_SECONDS = 5;
    /** Results of more bytes go in several statements: the server's default for the largest one is 16 MiB or more. */
    private static final int STATEMENT_BYTES_MAX = 4 << 20;

    private static final String CLOCK = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

    private static final List<String> BEGIN = List.of("START TRANSACTION");

    /** Scans that lock rows must not lock the gaps between them: that would hold up new claims. */
    static final List<String> BEGIN_SCAN =
            List.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION");

    private static final String EACH = "/*each*/";

    /** The rule for a new entry (the unique key decides: nothing is read first) and for a lost acknowledgement. */
    static final String INSERT = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, token, owner,
                lease_us, on_lease_lost, retention_us, tombstone_us, state, attempt, created_at, lease_until, reap_at)
            VALUES /*each*/ (
                ?, ?, ?, ?, ?, ?, ?, ?,
                ?, ?, ?, ?, ?, IF(state = 2, 1, 0), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                created_at + lease_us, created_at + retention_us) /*,*/
            ON DUPLICATE KEY UPDATE lease_until =
                IF(onlyonce_entry.token = VALUES(token) AND onlyonce_entry.state = VALUES(state),
                   VALUES(created_at) + onlyonce_entry.lease_us, onlyonce_entry.lease_until)""";

    /** Locks what {@link #TAKE} is about to change. */
    static final String LOCK_FREE = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.state IN (1, 5)
            FOR UPDATE""";

    /** Locks what {@link #REPLACE} is about to change. */
    static final String LOCK_GONE = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FOR UPDATE""";

    /** A pending or retryable entry of the same request gets its next attempt. */
    static final String TAKE = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS operation, ? AS fingerprint_version, ? AS fingerprint,
                                ? AS token, ? AS owner, ? AS lease_us, ? AS on_lease_lost, ? AS retention_us,
                                ? AS tombstone_us, ? AS state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.state = 2, e.token = a.token, e.owner = a.owner, e.attempt = e.attempt + 1,
                e.lease_us = a.lease_us, e.on_lease_lost = a.on_lease_lost,
                e.retention_us = a.retention_us, e.tombstone_us = a.tombstone_us,
                e.lease_until = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.lease_us,
                e.settled_at = NULL, e.expires_at = NULL, e.purge_at = NULL,
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.retention_us,
                e.unknown_since = NULL, e.result = NULL
            WHERE a.state = 2 AND e.state IN (1, 5)
              AND (e.purge_at IS NULL OR e.purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))
              AND e.operation = a.operation
              AND e.fingerprint_version = a.fingerprint_version AND e.fingerprint = a.fingerprint""";

    /** An entry past its retention and tombstone counts as absent. */
    static final String REPLACE = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS operation, ? AS fingerprint_version, ? AS fingerprint,
                                ? AS token, ? AS owner, ? AS lease_us, ? AS on_lease_lost, ? AS retention_us,
                                ? AS tombstone_us, ? AS state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.operation = a.operation, e.fingerprint_version = a.fingerprint_version, e.fingerprint = a.fingerprint,
                e.token = a.token, e.owner = a.owner, e.lease_us = a.lease_us, e.on_lease_lost = a.on_lease_lost,
                e.retention_us = a.retention_us, e.tombstone_us = a.tombstone_us,
                e.state = a.state, e.attempt = IF(a.state = 2, 1, 0),
                e.created_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                e.lease_until = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.lease_us,
                e.settled_at = NULL, e.expires_at = NULL, e.purge_at = NULL,
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.retention_us,
                e.unknown_since = NULL, e.result = NULL
            WHERE e.purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))""";

    /**
     * Only the owner settles, and only once. For entries that end in the same state: each finds its result by its token and
     * name. A join with the batch would be shorter, but both servers write what a join updates into a temporary table first,
     * and MariaDB cuts values of more than 64 KiB short there, without a word.
     */
    static final String SETTLE = """
            UPDATE onlyonce_entry FORCE INDEX (PRIMARY)
            SET result = ELT(
                    FIELD(CONCAT(token, tenant, 0x00, space, 0x00, key_), /*each*/ ? /*,*/),
                    /*each*/ ? /*,*/),
                settled_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                expires_at = IF(? = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + retention_us),
                purge_at = IF(? = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + retention_us
                        + IF(? = 5, 0, tombstone_us)),
                unknown_since = IF(? = 6, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), NULL),
                state = ?
            WHERE state = 2 AND (
                /*each*/ tenant = ? AND space = ? AND key_ = ? AND token = ? /*OR*/)""";

    /** Locks what {@link #SETTLE} is about to change: it does not tell, and a repeated settlement is not audited again. */
    static final String LOCK_HELD = """
            SELECT e.tenant, e.space, e.key_
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS token /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.token = a.token AND e.state = 2
            FOR UPDATE""";

    static final String RENEW = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS token, ? AS lease_us /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.lease_until = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.lease_us
            WHERE e.token = a.token AND e.state = 2""";

    /** What stands there after a statement: the answer to it. */
    static final String STANDING = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   e.token, e.settled_at, e.expires_at,
                   e.purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_""";

    static final String FIND = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, e.result, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at IS NULL OR e.purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))""";

    static final String CHUNK = """
            SELECT max(lease_until), count(*), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                SELECT lease_until FROM onlyonce_entry
                WHERE lease_until > ? AND lease_until <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
                ORDER BY lease_until LIMIT ?
            ) AS chunk""";

    static final String LAPSED = """
            SELECT tenant, space, key_, operation, attempt, state, on_lease_lost, lease_until
            FROM onlyonce_entry
            WHERE lease_until > ? AND lease_until <= ? AND state IN (1, 2)
            ORDER BY lease_until LIMIT ?""";

    /** Locks what still stands as it was read; whoever holds a row's lock is working on it. */
    static final String LOCK_LAPSED = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS attempt, ? AS state, ? AS next_state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.attempt = a.attempt AND e.state = a.state
              AND e.lease_until <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FOR UPDATE SKIP LOCKED""";

    static final String END = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS attempt, ? AS state, ? AS next_state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.state = a.next_state, e.token = NULL, e.result = NULL,
                e.settled_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                e.expires_at = IF(a.next_state = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us),
                e.purge_at = IF(a.next_state = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us
                        + IF(a.next_state = 5, 0, e.tombstone_us)),
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us,
                e.unknown_since = IF(a.next_state = 6, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), NULL)
            WHERE e.attempt = a.attempt AND e.state = a.state""";

    /** What is due for the reaper, locked. */
    static final String DUE = """
            SELECT tenant, space, key_, operation, created_at, attempt, state, owner,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                   COALESCE(purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0),
                   state IN (3, 4) AND expires_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM onlyonce_entry
            WHERE reap_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            ORDER BY reap_at LIMIT ?
            FOR UPDATE SKIP LOCKED""";

    static final String DELETE = """
            DELETE e
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_""";

    static final String TOMBSTONE = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.state = 7, e.result = NULL, e.reap_at = e.purge_at""";

    /**
     * Settled entries are put off until they expire, others until they could expire if they were settled now (unknown
     * ones cannot: once a day is enough). Processing entries wait a second at least, so that a retention of zero does not
     * spin.
     */
    static final String PUT_OFF = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.reap_at = CASE
                WHEN e.state = 7 THEN e.purge_at
                WHEN e.state IN (3, 4, 5) THEN e.expires_at
                WHEN e.state = 6 THEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 86400000000
                ELSE TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + GREATEST(e.retention_us, 1000000) END""";

    /** One row: the number of changed rows tells whether it was this resolution. */
    static final String RESOLVE = """
            UPDATE (
                SELECT ? AS tenant, ? AS space, ? AS key_, ? AS attempt, ? AS state
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.result = ?, e.state = a.state, e.token = NULL,
                e.settled_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                e.expires_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us,
                e.purge_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us
                    + IF(a.state = 5, 0, e.tombstone_us),
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us,
                e.unknown_since = NULL
            WHERE e.attempt = a.attempt AND e.state = 6""";

    static final String LOCK_ONE = """
            SELECT tenant, space, key_, operation, fingerprint_version, fingerprint, state, token, owner,
                   attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                   settled_at, expires_at, NULL, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ? AND state IN (3, 4, 5, 7)
              AND purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FOR UPDATE""";

    private final Optional<String> clock;

    /** With another clock than the server's: for tests only. */
    MySql(Optional<String> clock) {
        this.clock = clock;
    }

    @Override
    public SqlDatabase kind() {
        return SqlDatabase.MYSQL;
    }

    @Override
    public Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> written(c, settlements, claims));
    }

    /** As {@link #write}, in a transaction that is open. */
    Written written(Connection c, List<Settlement> settlements, List<ClaimRequest> claims) throws SQLException {
        Set<EntryId> fresh = settlements.isEmpty() ? Set.of() : settle(c, settlements);
        if (!claims.isEmpty()) {
            change(
                    c,
                    INSERT,
                    claims.stream().map(a -> RowParameters.of(COLUMNS, a)).toList());
        }
        List<EntryId> ids = new ArrayList<>();
        settlements.forEach(s -> ids.add(s.id()));
        claims.forEach(a -> ids.add(a.id()));
        Map<EntryId, Standing> standing = standing(c, ids);
        List<AuditRow> audit = new ArrayList<>();
        for (Settlement settlement : settlements) {
            Standing now = standing.get(settlement.id());
            if (now != null && fresh.contains(settlement.id())) {
                audit.add(AuditRow.settled(now.subject, settlement, now.settled.settledAt()));
            }
        }
        audit(c, audit);
        return new Written(settled(settlements, standing, fresh), claimed(claims, standing));
    }

    /** Returns those settled now, not by an earlier try. */
    private Set<EntryId> settle(Connection connection, List<Settlement> settlements) throws SQLException {
        Set<EntryId> held = new HashSet<>();
        List<Binding> rows =
                settlements.stream().map(s -> RowParameters.owner(COLUMNS, s)).toList();
        query(connection, LOCK_HELD, rows, row -> held.add(id(row)));
        List<Settlement> fresh =
                settlements.stream().filter(s -> held.contains(s.id())).toList();
        for (List<Settlement> part : fresh.isEmpty() ? List.<List<Settlement>>of() : parts(fresh)) {
            settlePart(connection, part);
        }
        return held;
    }

    private int settlePart(Connection connection, List<Settlement> settlements) throws SQLException {
        List<Binding> parameters = new ArrayList<>();
        settlements.forEach(s -> parameters.add(RowParameters.tokenAndName(s)));
        settlements.forEach(s -> parameters.add(RowParameters.result(s.result())));
        long state = settlements.get(0).to().code();
        parameters.add(Binding.longs(state, state, state, state, state));
        settlements.forEach(s -> parameters.add(RowParameters.owner(COLUMNS, s)));
        return change(connection, SETTLE, parameters, settlements.size());
    }

    /** One statement for each state; and results may be large: cuts the batch into statements that the server takes. */
    private static List<List<Settlement>> parts(List<Settlement> settlements) {
        List<List<Settlement>> parts = new ArrayList<>();
        for (State state :
                EnumSet.copyOf(settlements.stream().map(Settlement::to).toList())) {
            addParts(parts, settlements.stream().filter(s -> s.to() == state).toList());
        }
        return parts;
    }

    private static void addParts(List<List<Settlement>> parts, List<Settlement> settlements) {
        List<Settlement> part = new ArrayList<>();
        long bytes = 0;
        for (Settlement settlement : settlements) {
            byte[] result = settlement.result();
            int length = result == null ? 0 : result.length;
            if (!part.isEmpty() && bytes + length > STATEMENT_BYTES_MAX) {
                parts.add(part);
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(settlement);
            bytes += length;
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
    }

    private static Map<EntryId, SettleResult.Settled> settled(
            List<Settlement> settlements, Map<EntryId, Standing> standing, Set<EntryId> fresh) {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        for (Settlement settlement : settlements) {
            Standing now = standing.get(settlement.id());
            // What was settled now counts even with no retention; a repeated settlement only while it is kept.
            boolean counts = fresh.contains(settlement.id()) || (now != null && !now.gone);
            if (now != null && now.is(settlement.token(), settlement.to()) && counts) {
                settled.put(settlement.id(), now.settled);
            }
        }
        return settled;
    }

    private static Map<EntryId, Integer> claimed(List<ClaimRequest> claims, Map<EntryId, Standing> standing) {
        Map<EntryId, Integer> claimed = new HashMap<>();
        for (ClaimRequest claim : claims) {
            Standing now = standing.get(claim.id());
            if (now != null && now.is(claim.token(), claim.start())) {
                claimed.put(claim.id(), now.subject.attempt());
            }
        }
        return claimed;
    }

    /** What stands there, without what is large. */
    private record Standing(
            AuditRow.Subject subject, @Nullable UUID token, SettleResult.Settled settled, boolean gone) {
        boolean is(UUID token, State state) {
            return token.equals(this.token) && state == subject.state();
        }
    }

    private Map<EntryId, Standing> standing(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Standing> standing = new HashMap<>();
        List<Binding> rows =
                ids.stream().map(id -> RowParameters.of(COLUMNS, id)).toList();
        query(
                connection,
                STANDING,
                rows,
                row -> standing.put(
                        id(row),
                        new Standing(
                                AuditRow.Subject.read(row, 1, COLUMNS),
                                COLUMNS.token(row, 9),
                                StoredEntry.settled(row, 10),
                                row.getBoolean(12))));
        return standing;
    }

    @Override
    public Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Entry> found = new HashMap<>();
        List<Binding> rows =
                ids.stream().map(id -> RowParameters.of(COLUMNS, id)).toList();
        query(connection, FIND, rows, row -> {
            Entry entry = StoredEntry.read(row, COLUMNS);
            found.put(entry.id(), entry);
        });
        return found;
    }

    @Override
    public Map<EntryId, Integer> keep(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> claim(c, INSERT, claims));
    }

    @Override
    public Map<EntryId, Integer> take(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> taken(c, claims));
    }

    /** As {@link #take}, in a transaction that is open. */
    Map<EntryId, Integer> taken(Connection c, List<ClaimRequest> claims) throws SQLException {
        return claim(c, LOCK_FREE, TAKE, claims, AuditRow::taken);
    }

    @Override
    public Map<EntryId, Integer> replace(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> replaced(c, claims));
    }

    /** As {@link #replace}, in a transaction that is open. */
    Map<EntryId, Integer> replaced(Connection c, List<ClaimRequest> claims) throws SQLException {
        return claim(c, LOCK_GONE, REPLACE, claims, AuditRow::replaced);
    }

    @FunctionalInterface
    private interface Audited {
        AuditRow row(AuditRow.Subject before, ClaimRequest claim, long now);
    }

    /** Changes what it has locked, and tells the audit what had stood there. */
    private Map<EntryId, Integer> claim(
            Connection c, String lock, String sql, List<ClaimRequest> claims, Audited audited) throws SQLException {
        Map<EntryId, Before> locked = new HashMap<>();
        List<Binding> ids =
                claims.stream().map(a -> RowParameters.of(COLUMNS, a.id())).toList();
        query(c, lock, ids, row -> locked.put(id(row), Before.read(row)));
        List<ClaimRequest> open =
                claims.stream().filter(a -> locked.containsKey(a.id())).toList();
        if (open.isEmpty()) {
            return Map.of();
        }
        Map<EntryId, Integer> claimed = claim(c, sql, open);
        List<AuditRow> audit = new ArrayList<>();
        for (ClaimRequest claim : open) {
            Before before = locked.get(claim.id());
            if (before != null && claimed.containsKey(claim.id())) {
                audit.add(audited.row(before.subject, claim, before.now));
            }
        }
        audit(c, audit);
        return claimed;
    }

    private Map<EntryId, Integer> claim(Connection c, String sql, List<ClaimRequest> claims) throws SQLException {
        change(c, sql, claims.stream().map(a -> RowParameters.of(COLUMNS, a)).toList());
        return claimed(claims, standing(c, claims.stream().map(ClaimRequest::id).toList()));
    }

    /** An entry that is locked and about to change. */
    private record Before(AuditRow.Subject subject, long now) {
        static Before read(ResultSet row) throws SQLException {
            return new Before(AuditRow.Subject.read(row, 1, COLUMNS), row.getLong(9));
        }
    }

    private void audit(Connection connection, List<AuditRow> rows) throws SQLException {
        change(
                connection,
                AuditRow.INSERT,
                rows.stream().map(r -> RowParameters.of(COLUMNS, r)).toList());
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            change(
                    c,
                    RENEW,
                    renewals.stream().map(r -> RowParameters.of(COLUMNS, r)).toList());
            Map<EntryId, Standing> standing =
                    standing(c, renewals.stream().map(Renewal::id).toList());
            Set<EntryId> renewed = new HashSet<>();
            for (Renewal renewal : renewals) {
                Standing now = standing.get(renewal.id());
                if (now != null && now.is(renewal.token(), State.PROCESSING)) {
                    renewed.add(renewal.id());
                }
            }
            return renewed;
        });
    }

    @Override
    public Chunk chunk(Connection connection, long after, int rows) throws SQLException {
        List<Chunk> chunks = new ArrayList<>();
        query(connection, CHUNK, List.of(Binding.longs(after, rows)), row -> chunks.add(StoredEntry.chunk(row)));
        return chunks.get(0);
    }

    @Override
    public List<Lapsed> lapsed(Connection connection, long after, long upTo, int limit) throws SQLException {
        List<Lapsed> lapsed = new ArrayList<>();
        List<Binding> parameters = List.of(Binding.longs(after, upTo, limit));
        query(connection, LAPSED, parameters, row -> lapsed.add(StoredEntry.lapsed(row, COLUMNS)));
        return lapsed;
    }

    @Override
    public Set<EntryId> end(Connection connection, List<Lapsed> lapsed) throws SQLException {
        return Transaction.run(connection, BEGIN_SCAN, c -> {
            Map<EntryId, Before> locked = new HashMap<>();
            List<Binding> rows =
                    lapsed.stream().map(l -> RowParameters.of(COLUMNS, l)).toList();
            query(c, LOCK_LAPSED, rows, row -> locked.put(id(row), Before.read(row)));
            List<Binding> ended = new ArrayList<>();
            List<AuditRow> audit = new ArrayList<>();
            for (Lapsed entry : lapsed) {
                Before before = locked.get(entry.id());
                if (before != null) {
                    ended.add(RowParameters.of(COLUMNS, entry));
                    audit.add(AuditRow.swept(before.subject, entry, before.now));
                }
            }
            change(c, END, ended);
            audit(c, audit);
            return locked.keySet();
        });
    }

    @Override
    public Reaped reap(Connection connection, int limit) throws SQLException {
        return Transaction.run(connection, BEGIN_SCAN, c -> {
            List<Binding> gone = new ArrayList<>();
            List<Binding> expired = new ArrayList<>();
            List<Binding> early = new ArrayList<>();
            List<AuditRow> audit = new ArrayList<>();
            query(c, DUE, List.of(Binding.longs(limit)), row -> {
                boolean isGone = row.getBoolean(10);
                List<Binding> fate = isGone ? gone : row.getBoolean(11) ? expired : early;
                fate.add(RowParameters.of(COLUMNS, id(row)));
                if (fate != early) {
                    Before before = Before.read(row);
                    audit.add(AuditRow.reaped(before.subject, isGone ? null : State.EXPIRED, before.now));
                }
            });
            change(c, DELETE, gone);
            change(c, TOMBSTONE, expired);
            change(c, PUT_OFF, early);
            audit(c, audit);
            return new Reaped(gone.size() + expired.size() + early.size(), gone.size() + expired.size());
        });
    }

    @Override
    public Map<EntryId, SettleResult.Settled> resolve(Connection connection, List<Resolution> resolutions)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> resolved(c, resolutions));
    }

    /** As {@link #resolve}, in a transaction that is open. */
    Map<EntryId, SettleResult.Settled> resolved(Connection c, List<Resolution> resolutions) throws SQLException {
        List<Resolution> changed = new ArrayList<>();
        for (Resolution resolution : resolutions) {
            if (change(c, RESOLVE, List.of(RowParameters.of(COLUMNS, resolution))) > 0) {
                changed.add(resolution);
            }
        }
        Map<EntryId, SettleResult.Settled> resolved = new HashMap<>();
        List<AuditRow> audit = new ArrayList<>();
        List<EntryId> ids = changed.stream().map(Resolution::id).toList();
        Map<EntryId, Standing> standing = ids.isEmpty() ? Map.of() : standing(c, ids);
        for (Resolution resolution : changed) {
            Standing now = standing.get(resolution.id());
            if (now != null) {
                resolved.put(resolution.id(), now.settled);
                audit.add(AuditRow.resolved(now.subject, resolution, now.settled.settledAt()));
            }
        }
        audit(c, audit);
        return resolved;
    }

    @Override
    public Optional<Entry> evict(Connection connection, EntryId id, String who, String why) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<Entry> evicted = new ArrayList<>();
            List<Binding> row = List.of(RowParameters.of(COLUMNS, id));
            query(c, LOCK_ONE, row, found -> evicted.add(StoredEntry.read(found, COLUMNS)));
            if (!evicted.isEmpty()) {
                change(c, DELETE, row);
                audit(c, List.of(AuditRow.evicted(evicted.get(0), who, why)));
            }
            return evicted.stream().findFirst();
        });
    }

    @Override
    public List<Entry> list(Connection connection, EntryQuery query) throws SQLException {
        List<Entry> entries = new ArrayList<>();
        Listing listing = new Listing(query, COLUMNS, "(SELECT " + CLOCK + ")");
        query(connection, listing.sql(), List.of(listing), row -> entries.add(StoredEntry.read(row, COLUMNS)));
        return entries;
    }

    @Override
    public String clock() {
        return clock.orElse(CLOCK);
    }

    @Override
    public Inside inside() {
        return new InsideMySql(this);
    }

    private static EntryId id(ResultSet row) throws SQLException {
        return StoredEntry.id(row, 1, COLUMNS);
    }

    @FunctionalInterface
    interface RowReader {
        void accept(ResultSet row) throws SQLException;
    }

    void query(Connection connection, String sql, List<Binding> rows, RowReader reader) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, rows, rows.size());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                reader.accept(row);
            }
        }
    }

    int change(Connection connection, String sql, List<Binding> rows) throws SQLException {
        return rows.isEmpty() ? 0 : change(connection, sql, rows, rows.size());
    }

    private int change(Connection connection, String sql, List<Binding> parameters, int rows) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters, rows)) {
            return statement.executeUpdate();
        }
    }

    private PreparedStatement prepare(Connection connection, String sql, List<Binding> parameters, int rows)
            throws SQLException {
        String told = clock.isPresent() ? sql.replace(CLOCK, clock.get()) : sql;
        PreparedStatement statement = connection.prepareStatement(each(told, rows));
        try {
            statement.setQueryTimeout(STATEMENT_TIMEOUT_SECONDS);
            int next = 1;
            for (Binding binding : parameters) {
                next = binding.bind(statement, next);
            }
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    /** Repeats what stands between {@code each} and the separator. */
    static String each(String sql, int rows) {
        StringBuilder all = new StringBuilder();
        int done = 0;
        for (int each = sql.indexOf(EACH); each >= 0; each = sql.indexOf(EACH, done)) {
            all.append(sql, done, each);
            int end = sql.indexOf("/*", each + EACH.length());
            done = sql.indexOf("*/", end) + 2;
            String row = sql.substring(each + EACH.length(), end);
            String separator = sql.substring(end + 2, done - 2);
            for (int i = 0; i < rows; i++) {
                all.append(i == 0 ? "" : separator).append(row);
            }
        }
        return all.append(sql, done, sql.length()).toString();
    }
}
