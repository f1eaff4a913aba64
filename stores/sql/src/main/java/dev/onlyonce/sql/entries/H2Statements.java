package dev.onlyonce.sql.entries;

/**
 * The statements on entries in H2. A change of a row is two statements: one that locks the row and reads the clock, and one
 * that checks everything and changes it, at the time that was read ({@code ?15} and so on).
 */
final class H2Statements {
    /**
     * When this statement began. H2's own CURRENT_TIMESTAMP stands still for a whole transaction, the caller's too: a lease
     * that is counted from there may be over when it is committed. Upper case: with DATABASE_TO_UPPER=FALSE these names have no
     * other spelling.
     */
    static final String CLOCK =
            "(SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS"
                    + " WHERE SESSION_ID = SESSION_ID())";

    /** What skips locked rows waits for them without this. */
    static final String SKIP = " SKIP LOCKED";

    /** The rule for a new entry. The unique key decides: nothing is read first. */
    static final String INSERT = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, token, owner,
                lease_us, on_lease_lost, retention_us, tombstone_us, target, state, attempt, created_at, lease_until, reap_at)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, CASE WHEN ?14 = 2 THEN 1 ELSE 0 END,
                   clock.now, clock.now + CAST(?9 AS BIGINT), clock.now + CAST(?11 AS BIGINT)
            FROM (SELECT (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()) AS now) AS clock""";

    /** Whether an entry is seen, whatever it is. */
    static final String SEEN = """
            SELECT 1 FROM onlyonce_entry WHERE tenant = ?1 AND space = ?2 AND key_ = ?3""";

    /** Locks an entry that is about to change. */
    static final String LOCK = """
            SELECT (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()),
                   tenant, space, key_, operation, created_at, attempt, state, owner, settled_at, settled_why
            FROM onlyonce_entry
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3
            FOR UPDATE SKIP LOCKED""";

    /** A lost acknowledgement: the entry is the caller's already. */
    static final String KEEP = """
            SELECT attempt FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET lease_until = CAST(?15 AS BIGINT) + lease_us
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND token = ?7 AND state = ?14)""";

    /** A pending or retryable entry of the same request gets its next attempt. */
    static final String TAKE = """
            SELECT attempt FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET state = 2, token = ?7, owner = ?8, attempt = attempt + 1,
                    lease_us = ?9, on_lease_lost = ?10, retention_us = ?11, tombstone_us = ?12,
                    lease_until = CAST(?15 AS BIGINT) + CAST(?9 AS BIGINT), settled_at = NULL, expires_at = NULL, purge_at = NULL,
                    reap_at = CAST(?15 AS BIGINT) + CAST(?11 AS BIGINT), unknown_since = NULL, result = NULL, settled_why = NULL
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3
                  AND ?14 = 2 AND state IN (1, 5) AND (purge_at IS NULL OR purge_at > ?15)
                  AND operation = ?4 AND fingerprint_version = ?5 AND fingerprint = ?6)""";

    /** An entry past its retention and tombstone counts as absent. */
    static final String REPLACE = """
            SELECT attempt FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET operation = ?4, fingerprint_version = ?5, fingerprint = ?6, target = ?13, token = ?7, owner = ?8,
                    lease_us = ?9, on_lease_lost = ?10, retention_us = ?11, tombstone_us = ?12,
                    state = ?14, attempt = CASE WHEN ?14 = 2 THEN 1 ELSE 0 END,
                    created_at = ?15, lease_until = CAST(?15 AS BIGINT) + CAST(?9 AS BIGINT),
                    settled_at = NULL, expires_at = NULL, purge_at = NULL,
                    reap_at = CAST(?15 AS BIGINT) + CAST(?11 AS BIGINT), unknown_since = NULL, result = NULL, settled_why = NULL
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND purge_at <= ?15)""";

    /** Only the owner settles, and only once. An ordinary settlement is its own record, in settled_why: see {@link AuditTable}. */
    static final String SETTLE = """
            SELECT settled_at, expires_at, tenant, space, key_, operation, created_at, attempt, state, owner,
                   settled_at, settled_why
            FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET state = ?5, result = ?6, settled_at = ?8,
                    expires_at = CASE WHEN ?5 <> 6 THEN CAST(?8 AS BIGINT) + retention_us END,
                    purge_at = CASE WHEN ?5 = 5 THEN CAST(?8 AS BIGINT) + retention_us
                                    WHEN ?5 <> 6 THEN CAST(?8 AS BIGINT) + retention_us + tombstone_us END,
                    unknown_since = CASE WHEN ?5 = 6 THEN CAST(?8 AS BIGINT) END,
                    settled_why = CASE WHEN ?5 IN (3, 4)
                        AND lease_until BETWEEN ?8 AND CAST(?8 AS BIGINT) + 300000000 THEN CAST(?7 AS BINARY VARYING) END
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND token = ?4 AND state = 2)""";

    static final String RENEW = """
            SELECT attempt FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET lease_until = GREATEST(lease_until, CAST(?6 AS BIGINT) + CAST(?5 AS BIGINT))
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND token = ?4 AND state = 2)""";

    static final String FIND = """
            SELECT tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                   attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                   settled_at, expires_at, result, clock.now
            FROM (SELECT (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()) AS now) AS clock
            JOIN onlyonce_entry ON purge_at IS NULL OR purge_at > clock.now
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3""";

    static final String CHUNK = """
            SELECT max(lease_until), count(*), (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
            FROM (
                SELECT lease_until FROM onlyonce_entry
                WHERE lease_until > ?1
                  AND lease_until <= (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
                ORDER BY lease_until LIMIT ?2
            ) AS chunk""";

    static final String LAPSED = """
            SELECT tenant, space, key_, operation, attempt, state, on_lease_lost, lease_until
            FROM onlyonce_entry
            WHERE lease_until > ?1 AND lease_until <= ?2 AND state IN (1, 2)
            ORDER BY lease_until LIMIT ?3""";

    /** A retryable entry with steps is half done and does not expire. */
    static final String END = """
            SELECT attempt FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET state = ?6, token = NULL, result = NULL, settled_at = ?7, settled_why = NULL,
                    expires_at = CASE WHEN ?6 = 6 THEN NULL WHEN ?6 = 5 AND EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = onlyonce_entry.tenant AND s.space = onlyonce_entry.space
                              AND s.key_ = onlyonce_entry.key_ AND s.entry_created_at = onlyonce_entry.created_at)
                        THEN CAST(?7 AS BIGINT) + 315360000000000 ELSE CAST(?7 AS BIGINT) + retention_us END,
                    purge_at = CASE WHEN ?6 = 6 THEN NULL
                        WHEN ?6 <> 5 THEN CAST(?7 AS BIGINT) + retention_us + tombstone_us
                        WHEN EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = onlyonce_entry.tenant AND s.space = onlyonce_entry.space
                              AND s.key_ = onlyonce_entry.key_ AND s.entry_created_at = onlyonce_entry.created_at)
                        THEN CAST(?7 AS BIGINT) + 315360000000000 ELSE CAST(?7 AS BIGINT) + retention_us END,
                    reap_at = CAST(?7 AS BIGINT) + retention_us,
                    unknown_since = CASE WHEN ?6 = 6 THEN CAST(?7 AS BIGINT) END
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND attempt = ?4 AND state = ?5 AND lease_until <= ?7)""";

    /**
     * Locks the rows that are due for a purge. In the order of the index, without ORDER BY: with it, H2 locks all that are due and
     * then sorts them.
     */
    static final String DUE = """
            SELECT (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()),
                   tenant, space, key_, operation, created_at, attempt, state, owner, settled_at, settled_why, purge_at, expires_at
            FROM onlyonce_entry USE INDEX (onlyonce_entry_reap)
            WHERE reap_at <= (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
            LIMIT ?1
            FOR UPDATE SKIP LOCKED""";

    static final String DELETE = """
            DELETE FROM onlyonce_entry WHERE tenant = ?1 AND space = ?2 AND key_ = ?3""";

    static final String TOMBSTONE = """
            UPDATE onlyonce_entry
            SET state = 7, result = NULL, settled_why = NULL, reap_at = purge_at
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3""";

    /**
     * Settled entries are put off until they expire, others until they could expire if they were settled now (unknown
     * ones cannot: once a day is enough). Processing entries wait a second at least, so that a retention of zero does not
     * spin.
     */
    static final String PUT_OFF = """
            UPDATE onlyonce_entry
            SET reap_at = CASE
                WHEN state = 7 THEN purge_at
                WHEN state IN (3, 4, 5) THEN expires_at
                WHEN state = 6 THEN CAST(?4 AS BIGINT) + 86400000000
                ELSE CAST(?4 AS BIGINT) + GREATEST(retention_us, 1000000) END
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3""";

    /** A retryable entry with steps, or whose call is lasting, does not expire. -1: at whatever time the entry was made. */
    static final String RESOLVE = """
            SELECT settled_at, expires_at, tenant, space, key_, operation, created_at, attempt, state, owner,
                   settled_at, settled_why
            FROM FINAL TABLE (
                UPDATE onlyonce_entry
                SET state = ?5, token = NULL, result = ?6, settled_at = ?8, settled_why = NULL,
                    expires_at = CASE WHEN ?5 = 5 AND EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = onlyonce_entry.tenant AND s.space = onlyonce_entry.space
                              AND s.key_ = onlyonce_entry.key_ AND s.entry_created_at = onlyonce_entry.created_at
                            UNION ALL
                            SELECT 1 FROM onlyonce_outbox o
                            WHERE o.tenant = onlyonce_entry.tenant AND o.space = onlyonce_entry.space
                              AND o.key_ = onlyonce_entry.key_ AND o.entry_created_at = onlyonce_entry.created_at
                              AND o.lasting = 1)
                        THEN CAST(?8 AS BIGINT) + 315360000000000 ELSE CAST(?8 AS BIGINT) + retention_us END,
                    purge_at = CASE WHEN ?5 <> 5 THEN CAST(?8 AS BIGINT) + retention_us + tombstone_us
                        WHEN EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = onlyonce_entry.tenant AND s.space = onlyonce_entry.space
                              AND s.key_ = onlyonce_entry.key_ AND s.entry_created_at = onlyonce_entry.created_at
                            UNION ALL
                            SELECT 1 FROM onlyonce_outbox o
                            WHERE o.tenant = onlyonce_entry.tenant AND o.space = onlyonce_entry.space
                              AND o.key_ = onlyonce_entry.key_ AND o.entry_created_at = onlyonce_entry.created_at
                              AND o.lasting = 1)
                        THEN CAST(?8 AS BIGINT) + 315360000000000 ELSE CAST(?8 AS BIGINT) + retention_us END,
                    reap_at = CAST(?8 AS BIGINT) + retention_us,
                    unknown_since = NULL
                WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND attempt = ?4 AND state = 6
                  AND (?7 = -1 OR created_at = ?7))""";

    /** Locks an entry that an operator wants to delete. */
    static final String LOCK_ONE = """
            SELECT tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                   attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                   settled_at, expires_at, CAST(NULL AS BINARY VARYING),
                   (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()), settled_why
            FROM onlyonce_entry
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND state IN (3, 4, 5, 7)
              AND purge_at > (SELECT CAST(EXTRACT(EPOCH FROM EXECUTING_STATEMENT_START) * 1000000 AS BIGINT) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID())
            FOR UPDATE""";

    private H2Statements() {}
}
