package dev.onlyonce.sql.internal.entries;

import java.util.LinkedHashMap;
import java.util.Map;

/** The short cuts of SQLite: fresh claims, one's own settlements, renewals and reading. {@link ChangeTexts} has the rest. */
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

    /** All of them, with a name for each. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("claim", INSERT);
        all.put("settle", SETTLE);
        all.put("renew", RENEW);
        all.put("find", FIND);
        return all;
    }

    private SqliteStatements() {}
}
