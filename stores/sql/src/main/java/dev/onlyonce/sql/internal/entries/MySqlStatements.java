package dev.onlyonce.sql.internal.entries;

import java.util.LinkedHashMap;
import java.util.Map;

/** The short cuts of MySQL and MariaDB: fresh claims, one's own settlements, renewals and reading. {@link ChangeTexts} has the rest. */
final class MySqlStatements {
    static final String CLOCK = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

    /** What skips locked rows waits for them without this. */
    static final String SKIP = " SKIP LOCKED";

    /** The rule for a new entry (the unique key decides: nothing is read first) and for a lost acknowledgement. */
    static final String INSERT = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, token, owner,
                lease_us, on_lease_lost, retention_us, tombstone_us, target, state, attempt, created_at, lease_until, reap_at)
            VALUES /*each*/ (
                ?, ?, ?, ?, ?, ?, ?, ?,
                ?, ?, ?, ?, ?, ?, IF(state = 2, 1, 0), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                created_at + lease_us, created_at + retention_us) /*,*/
            ON DUPLICATE KEY UPDATE lease_until =
                IF(onlyonce_entry.token = VALUES(token) AND onlyonce_entry.state = VALUES(state),
                   VALUES(created_at) + onlyonce_entry.lease_us, onlyonce_entry.lease_until)""";

    /** The rule for new entries when all of them are new: the unique key decides, and one statement is one transaction. */
    static final String INSERT_FRESH = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, token, owner,
                lease_us, on_lease_lost, retention_us, tombstone_us, target, state, attempt, created_at, lease_until, reap_at)
            VALUES /*each*/ (
                ?, ?, ?, ?, ?, ?, ?, ?,
                ?, ?, ?, ?, ?, ?, IF(state = 2, 1, 0), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                created_at + lease_us, created_at + retention_us) /*,*/""";

    /**
     * Only the owner settles, and only once. For entries that end in the same state for the same reason: each finds its result
     * by its token and name. An ordinary settlement is its own record, in settled_why: see {@link AuditTable}. A join with the batch would be shorter, but both servers write what a join updates into a temporary table first,
     * and MariaDB cuts values of more than 64 KiB short there, without a word.
     */
    static final String SETTLE = """
            UPDATE onlyonce_entry FORCE INDEX (PRIMARY)
            SET result = ELT(
                    FIELD(CONCAT(token, tenant, 0x00, space, 0x00, key_), /*each*/ CAST(? AS BINARY) /*,*/),
                    /*each*/ CAST(? AS BINARY) /*,*/),
                settled_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                expires_at = IF(? = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + retention_us),
                purge_at = IF(? = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + retention_us
                        + IF(? = 5, 0, tombstone_us)),
                unknown_since = IF(? = 6, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), NULL),
                settled_why = IF(? IN (3, 4)
                    AND lease_until BETWEEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
                        AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 300000000, ?, NULL),
                state = ?
            WHERE state = 2 AND (
                /*each*/ tenant = ? AND space = ? AND key_ = ? AND token = ? /*OR*/)""";

    /**
     * Ordinary settlements with the same end: they need no row of the audit, so one statement is one transaction. Only for
     * entries that are kept for a minute: the rows may be read next, and must still be there. {@code LAST_INSERT_ID} puts the
     * time, which is the same for all of them, into the server's acknowledgement.
     */
    static final String SETTLE_ORDINARY = """
            UPDATE onlyonce_entry FORCE INDEX (PRIMARY)
            SET result = ELT(
                    FIELD(CONCAT(token, tenant, 0x00, space, 0x00, key_), /*each*/ CAST(? AS BINARY) /*,*/),
                    /*each*/ CAST(? AS BINARY) /*,*/),
                settled_why = ?, state = ?,
                settled_at = LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))),
                expires_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + retention_us,
                purge_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + retention_us + tombstone_us
            WHERE state = 2 AND retention_us >= 60000000
              AND lease_until BETWEEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
                  AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 300000000
              AND (/*each*/ tenant = ? AND space = ? AND key_ = ? AND token = ? /*OR*/)""";

    /** What {@link #SETTLE_ORDINARY} has settled, and when by the server's clock. */
    static final String SETTLED = """
            SELECT tenant, space, key_, settled_at, expires_at FROM onlyonce_entry FORCE INDEX (PRIMARY)
            WHERE (/*each*/ tenant = ? AND space = ? AND key_ = ? AND token = ? /*OR*/) AND state = ?
              AND purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))""";

    /**
     * Locks what {@link #SETTLE} is about to change: it does not tell, and a repeated settlement is not audited again. Also
     * locks what {@link #RENEW} is about to change.
     */
    static final String LOCK_HELD = """
            SELECT e.tenant, e.space, e.key_
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, CAST(? AS BINARY(16)) AS token /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.token = a.token AND e.state = 2
            FOR UPDATE SKIP LOCKED""";

    static final String RENEW = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, CAST(? AS BINARY(16)) AS token, ? AS lease_us /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.lease_until = GREATEST(e.lease_until, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.lease_us)
            WHERE e.token = a.token AND e.state = 2""";

    /** In a transaction that reads uncommitted rows: entries that somebody is just making. */
    static final String SEEN = """
            SELECT e.tenant, e.space, e.key_
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at IS NULL OR e.purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))""";

    /** What stands there after a statement: the answer to it. */
    static final String STANDING = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   e.settled_at, e.settled_why,
                   e.token, e.settled_at, e.expires_at,
                   e.purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_""";

    static final String FIND = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.target, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, e.result, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at IS NULL OR e.purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))""";

    /** All of them, with a name for each. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("claim", INSERT);
        all.put("claim fresh keys", INSERT_FRESH);
        all.put("what stands", STANDING);
        all.put("what is being made", SEEN);
        all.put("settle: lock", LOCK_HELD);
        all.put("settle", SETTLE);
        all.put("settle ordinary", SETTLE_ORDINARY);
        all.put("what is settled", SETTLED);
        all.put("renew", RENEW);
        all.put("find", FIND);
        return all;
    }

    private MySqlStatements() {}
}
