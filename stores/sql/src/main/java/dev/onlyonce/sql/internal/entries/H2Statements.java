package dev.onlyonce.sql.internal.entries;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The short cuts of H2: fresh claims, one's own settlements, renewals and reading. {@link ChangeTexts} has the rest. A change of a row is two statements: one that locks the row and reads the clock, and one
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

    /** All of them, with a name for each. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("claim", INSERT);
        all.put("what is seen", SEEN);
        all.put("settle: lock", LOCK);
        all.put("settle", SETTLE);
        all.put("renew", RENEW);
        all.put("find", FIND);
        return all;
    }

    private H2Statements() {}
}
