package dev.onlyonce.sql.entries;

/** The statements on entries in MySQL and MariaDB. */
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

    /** Locks what {@link #TAKE} is about to change. */
    static final String LOCK_FREE = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   e.settled_at, e.settled_why,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.state IN (1, 5)
            FOR UPDATE SKIP LOCKED""";

    /** Locks what {@link #REPLACE} is about to change. */
    static final String LOCK_GONE = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.state, e.owner,
                   e.settled_at, e.settled_why,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FOR UPDATE SKIP LOCKED""";

    /** A pending or retryable entry of the same request gets its next attempt. */
    static final String TAKE = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS operation, ? AS fingerprint_version, CAST(? AS BINARY) AS fingerprint,
                                CAST(? AS BINARY(16)) AS token, ? AS owner, ? AS lease_us, ? AS on_lease_lost, ? AS retention_us,
                                ? AS tombstone_us, ? AS target, ? AS state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.state = 2, e.token = a.token, e.owner = a.owner, e.attempt = e.attempt + 1,
                e.lease_us = a.lease_us, e.on_lease_lost = a.on_lease_lost,
                e.retention_us = a.retention_us, e.tombstone_us = a.tombstone_us,
                e.lease_until = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.lease_us,
                e.settled_at = NULL, e.expires_at = NULL, e.purge_at = NULL,
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.retention_us,
                e.unknown_since = NULL, e.result = NULL, e.settled_why = NULL
            WHERE a.state = 2 AND e.state IN (1, 5)
              AND (e.purge_at IS NULL OR e.purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))
              AND e.operation = a.operation
              AND e.fingerprint_version = a.fingerprint_version AND e.fingerprint = a.fingerprint""";

    /** An entry past its retention and tombstone counts as absent. */
    static final String REPLACE = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS operation, ? AS fingerprint_version, CAST(? AS BINARY) AS fingerprint,
                                CAST(? AS BINARY(16)) AS token, ? AS owner, ? AS lease_us, ? AS on_lease_lost, ? AS retention_us,
                                ? AS tombstone_us, ? AS target, ? AS state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.operation = a.operation, e.fingerprint_version = a.fingerprint_version, e.fingerprint = a.fingerprint,
                e.target = a.target, e.token = a.token, e.owner = a.owner, e.lease_us = a.lease_us, e.on_lease_lost = a.on_lease_lost,
                e.retention_us = a.retention_us, e.tombstone_us = a.tombstone_us,
                e.state = a.state, e.attempt = IF(a.state = 2, 1, 0),
                e.created_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                e.lease_until = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.lease_us,
                e.settled_at = NULL, e.expires_at = NULL, e.purge_at = NULL,
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + a.retention_us,
                e.unknown_since = NULL, e.result = NULL, e.settled_why = NULL
            WHERE e.purge_at <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))""";

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

    /** Locks entries that the caller has claimed already and is about to keep. */
    static final String LOCK_OWN = """
            SELECT e.tenant, e.space, e.key_
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, CAST(? AS BINARY(16)) AS token /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.token = a.token
            FOR UPDATE SKIP LOCKED""";

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
                   e.settled_at, e.settled_why,
                   TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FROM (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS attempt, ? AS state, ? AS next_state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.attempt = a.attempt AND e.state = a.state
              AND e.lease_until <= TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FOR UPDATE SKIP LOCKED""";

    /** A retryable entry with steps is half done and does not expire. */
    static final String END = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_, ? AS attempt, ? AS state, ? AS next_state /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.state = a.next_state, e.token = NULL, e.result = NULL, e.settled_why = NULL,
                e.settled_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                e.expires_at = IF(a.next_state = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + IF(a.next_state = 5 AND EXISTS (
                        SELECT 1 FROM onlyonce_step s
                        WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                          AND s.entry_created_at = e.created_at), 315360000000000, e.retention_us)),
                e.purge_at = IF(a.next_state = 6, NULL,
                    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + IF(a.next_state <> 5, e.retention_us + e.tombstone_us, IF(EXISTS (
                        SELECT 1 FROM onlyonce_step s
                        WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                          AND s.entry_created_at = e.created_at), 315360000000000, e.retention_us))),
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us,
                e.unknown_since = IF(a.next_state = 6, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), NULL)
            WHERE e.attempt = a.attempt AND e.state = a.state""";

    /** Locks the rows that are due for a purge. */
    static final String DUE = """
            SELECT tenant, space, key_, operation, created_at, attempt, state, owner, settled_at, settled_why,
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
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_""";

    static final String TOMBSTONE = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.state = 7, e.result = NULL, e.settled_why = NULL, e.reap_at = e.purge_at""";

    /**
     * Settled entries are put off until they expire, others until they could expire if they were settled now (unknown
     * ones cannot: once a day is enough). Processing entries wait a second at least, so that a retention of zero does not
     * spin.
     */
    static final String PUT_OFF = """
            UPDATE (
                /*each*/ SELECT ? AS tenant, ? AS space, ? AS key_ /*UNION ALL*/
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.reap_at = CASE
                WHEN e.state = 7 THEN e.purge_at
                WHEN e.state IN (3, 4, 5) THEN e.expires_at
                WHEN e.state = 6 THEN TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + 86400000000
                ELSE TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + GREATEST(e.retention_us, 1000000) END""";

    /** One row: the number of changed rows tells whether it was this resolution. A half-done operation or lasting call does not expire. */
    static final String RESOLVE = """
            UPDATE (
                SELECT ? AS tenant, ? AS space, ? AS key_, ? AS attempt, ? AS state
            ) AS a
            STRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            SET e.result = ?, e.state = a.state, e.token = NULL, e.settled_why = NULL,
                e.settled_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
                e.expires_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
                    + IF(a.state = 5 AND EXISTS (
                        SELECT 1 FROM onlyonce_step s
                        WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                          AND s.entry_created_at = e.created_at
                        UNION ALL
                        SELECT 1 FROM onlyonce_outbox o
                        WHERE o.tenant = e.tenant AND o.space = e.space AND o.key_ = e.key_
                          AND o.entry_created_at = e.created_at AND o.lasting = 1), 315360000000000, e.retention_us),
                e.purge_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
                    + IF(a.state <> 5, e.retention_us + e.tombstone_us, IF(EXISTS (
                        SELECT 1 FROM onlyonce_step s
                        WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                          AND s.entry_created_at = e.created_at
                        UNION ALL
                        SELECT 1 FROM onlyonce_outbox o
                        WHERE o.tenant = e.tenant AND o.space = e.space AND o.key_ = e.key_
                          AND o.entry_created_at = e.created_at AND o.lasting = 1), 315360000000000, e.retention_us)),
                e.reap_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) + e.retention_us,
                e.unknown_since = NULL
            WHERE e.attempt = a.attempt AND e.state = 6 AND ? IN (-1, e.created_at)""";

    static final String LOCK_ONE = """
            SELECT tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                   attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                   settled_at, expires_at, NULL, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), settled_why
            FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ? AND state IN (3, 4, 5, 7)
              AND purge_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
            FOR UPDATE""";

    private MySqlStatements() {}
}
