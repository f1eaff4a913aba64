package dev.onlyonce.sql.entries;

/** The statements on entries in SQLite. */
final class SqliteStatements {
    static final String CLOCK =
            "CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000";

    /** The rule for a new entry. The unique key decides: nothing is read first. */
    static final String INSERT = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, token, owner,
                lease_us, on_lease_lost, retention_us, tombstone_us, target, state, attempt, created_at, lease_until, reap_at)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, iif(?14 = 2, 1, 0), now, now + ?9, now + ?11
            FROM clock WHERE true
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING attempt""";

    /** A lost acknowledgement: the entry is the caller's already. */
    static final String KEEP = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            UPDATE onlyonce_entry
            SET lease_until = now + lease_us
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND token = ?7 AND state = ?14
            RETURNING attempt""";

    /** A pending or retryable entry of the same request gets its next attempt. */
    static final String TAKE = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            UPDATE onlyonce_entry
            SET state = 2, token = ?7, owner = ?8, attempt = attempt + 1,
                lease_us = ?9, on_lease_lost = ?10, retention_us = ?11, tombstone_us = ?12,
                lease_until = now + ?9, settled_at = NULL, expires_at = NULL, purge_at = NULL,
                reap_at = now + ?11, unknown_since = NULL, result = NULL, settled_why = NULL
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3
              AND ?14 = 2 AND state IN (1, 5) AND (purge_at IS NULL OR purge_at > now)
              AND operation = ?4 AND fingerprint_version = ?5 AND fingerprint = ?6
            RETURNING attempt""";

    /** An entry past its retention and tombstone counts as absent. */
    static final String REPLACE = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            UPDATE onlyonce_entry
            SET operation = ?4, fingerprint_version = ?5, fingerprint = ?6, target = ?13, token = ?7, owner = ?8,
                lease_us = ?9, on_lease_lost = ?10, retention_us = ?11, tombstone_us = ?12,
                state = ?14, attempt = iif(?14 = 2, 1, 0), created_at = now, lease_until = now + ?9,
                settled_at = NULL, expires_at = NULL, purge_at = NULL,
                reap_at = now + ?11, unknown_since = NULL, result = NULL, settled_why = NULL
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND purge_at <= now
            RETURNING attempt""";

    /** Only the owner settles, and only once. An ordinary settlement is its own record, in settled_why: see {@link AuditTable}. */
    static final String SETTLE = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            UPDATE onlyonce_entry
            SET state = ?5, result = ?6, settled_at = now,
                expires_at = iif(?5 <> 6, now + retention_us, NULL),
                purge_at = CASE ?5 WHEN 6 THEN NULL WHEN 5 THEN now + retention_us ELSE now + retention_us + tombstone_us END,
                unknown_since = iif(?5 = 6, now, NULL),
                settled_why = iif(?5 IN (3, 4) AND lease_until BETWEEN now AND now + 300000000, ?7, NULL)
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND token = ?4 AND state = 2
            RETURNING settled_at, expires_at, tenant, space, key_, operation, created_at, attempt, state, owner,
                      settled_at, settled_why""";

    static final String RENEW = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            UPDATE onlyonce_entry
            SET lease_until = max(lease_until, now + ?5)
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND token = ?4 AND state = 2
            RETURNING attempt""";

    static final String FIND = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            SELECT tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                   attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                   settled_at, expires_at, result, now
            FROM clock, onlyonce_entry
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND (purge_at IS NULL OR purge_at > now)""";

    /** An entry before it changes: nobody else writes in between. */
    static final String BEFORE = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            SELECT now, tenant, space, key_, operation, created_at, attempt, state, owner, settled_at, settled_why
            FROM clock, onlyonce_entry
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3""";

    static final String CHUNK = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            SELECT max(lease_until), count(*), (SELECT now FROM clock)
            FROM (
                SELECT lease_until FROM onlyonce_entry
                WHERE lease_until > ?1 AND lease_until <= (SELECT now FROM clock)
                ORDER BY lease_until LIMIT ?2
            )""";

    static final String LAPSED = """
            SELECT tenant, space, key_, operation, attempt, state, on_lease_lost, lease_until
            FROM onlyonce_entry
            WHERE lease_until > ?1 AND lease_until <= ?2 AND state IN (1, 2)
            ORDER BY lease_until LIMIT ?3""";

    /** A retryable entry with steps is half done and does not expire. */
    static final String END = """
            WITH clock (now, half_done) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000,
                       ?6 = 5 AND EXISTS (
                           SELECT 1 FROM onlyonce_step s JOIN onlyonce_entry e
                             ON s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                            AND s.entry_created_at = e.created_at
                           WHERE e.tenant = ?1 AND e.space = ?2 AND e.key_ = ?3)
            )
            UPDATE onlyonce_entry
            SET state = ?6, token = NULL, result = NULL, settled_at = now, settled_why = NULL,
                expires_at = iif(?6 <> 6, now + iif(half_done, 315360000000000, retention_us), NULL),
                purge_at = CASE ?6 WHEN 6 THEN NULL WHEN 5 THEN now + iif(half_done, 315360000000000, retention_us)
                                   ELSE now + retention_us + tombstone_us END,
                reap_at = now + retention_us,
                unknown_since = iif(?6 = 6, now, NULL)
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND attempt = ?4 AND state = ?5 AND lease_until <= now
            RETURNING attempt""";

    static final String DUE = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            SELECT rowid, ifnull(purge_at <= (SELECT now FROM clock), 0),
                   ifnull(state IN (3, 4) AND expires_at <= (SELECT now FROM clock), 0),
                   tenant, space, key_, operation, created_at, attempt, state, owner, settled_at, settled_why
            FROM onlyonce_entry
            WHERE reap_at <= (SELECT now FROM clock)
            ORDER BY reap_at LIMIT ?1""";

    static final String DELETE = "DELETE FROM onlyonce_entry WHERE rowid = ?1 RETURNING attempt";

    /**
     * Makes a tombstone of an answer past retention, or puts the row off: settled entries until they expire, others until
     * they could expire if they were settled now (unknown ones cannot: once a day is enough). Processing entries wait
     * a second at least, so that a retention of zero does not spin.
     */
    static final String PUT_OFF = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            UPDATE onlyonce_entry
            SET state = iif(?2, 7, state), result = iif(?2, NULL, result), settled_why = iif(?2, NULL, settled_why),
                reap_at = CASE WHEN ?2 OR state = 7 THEN purge_at
                               WHEN state IN (3, 4, 5) THEN expires_at
                               WHEN state = 6 THEN now + 86400000000
                               ELSE now + max(retention_us, 1000000) END
            FROM clock
            WHERE rowid = ?1
            RETURNING attempt""";

    /** A retryable entry with steps, or whose call is lasting, does not expire. */
    static final String RESOLVE = """
            WITH clock (now, kept) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000,
                       ?5 = 5 AND EXISTS (
                           SELECT 1 FROM onlyonce_step s JOIN onlyonce_entry e
                             ON s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                            AND s.entry_created_at = e.created_at
                           WHERE e.tenant = ?1 AND e.space = ?2 AND e.key_ = ?3
                           UNION ALL
                           SELECT 1 FROM onlyonce_outbox o JOIN onlyonce_entry e
                             ON o.tenant = e.tenant AND o.space = e.space AND o.key_ = e.key_
                            AND o.entry_created_at = e.created_at
                           WHERE e.tenant = ?1 AND e.space = ?2 AND e.key_ = ?3 AND o.lasting = 1)
            )
            UPDATE onlyonce_entry
            SET state = ?5, token = NULL, result = ?6, settled_at = now, settled_why = NULL,
                expires_at = now + iif(kept, 315360000000000, retention_us),
                purge_at = iif(?5 = 5, now + iif(kept, 315360000000000, retention_us), now + retention_us + tombstone_us),
                reap_at = now + retention_us,
                unknown_since = NULL
            FROM clock
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND attempt = ?4 AND state = 6 AND ?7 IN (-1, created_at)
            RETURNING settled_at, expires_at, tenant, space, key_, operation, created_at, attempt, state, owner,
                      settled_at, settled_why""";

    static final String EVICT = """
            WITH clock (now) AS (
                SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
            )
            DELETE FROM onlyonce_entry
            WHERE tenant = ?1 AND space = ?2 AND key_ = ?3 AND state IN (3, 4, 5, 7) AND purge_at > (SELECT now FROM clock)
            RETURNING tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                      attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                      settled_at, expires_at, NULL,
                      (SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000), settled_why""";

    private SqliteStatements() {}
}
