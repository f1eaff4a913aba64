package dev.onlyonce.sql.entries;

/** The statements of sweep, purge, the reconciler and operators in PostgreSQL. */
final class PostgresUpkeep {
    static final String CHUNK = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            )
            SELECT max(lease_until), count(*), (SELECT now FROM clock)
            FROM (
                SELECT lease_until FROM onlyonce_entry
                WHERE lease_until > ? AND lease_until <= (SELECT now FROM clock)
                ORDER BY lease_until LIMIT ?
            ) AS chunk""";

    static final String LAPSED = """
            SELECT tenant, space, key_, operation, attempt, state, on_lease_lost, lease_until
            FROM onlyonce_entry
            WHERE lease_until > ? AND lease_until <= ? AND state IN (1, 2)
            ORDER BY lease_until LIMIT ?""";

    /**
     * Ends what still stands as it was read; whoever holds a row's lock is working on it. A retryable entry with steps is
     * half done and does not expire.
     */
    static final String END = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), lapsed AS MATERIALIZED (
                SELECT e.tenant, e.space, e.key_, a.state AS was, a.next, a.why,
                       CASE WHEN a.next = 5 AND EXISTS (
                                SELECT 1 FROM onlyonce_step s
                                WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                                  AND s.entry_created_at = e.created_at)
                            THEN 315360000000000 ELSE e.retention_us END AS retention_us
                FROM clock,
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::int[]) AS attempt, unnest(?::smallint[]) AS state,
                             unnest(?::smallint[]) AS next, unnest(?::text[]) AS why) AS a
                     JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                WHERE e.attempt = a.attempt AND e.state = a.state AND e.lease_until <= clock.now
                FOR UPDATE OF e SKIP LOCKED
            ), ended AS (
                UPDATE onlyonce_entry e
                SET state = a.next, token = NULL, result = NULL, settled_at = clock.now, settled_why = NULL,
                    expires_at = CASE WHEN a.next <> 6 THEN clock.now + a.retention_us END,
                    purge_at = CASE WHEN a.next = 5 THEN clock.now + a.retention_us
                                    WHEN a.next <> 6 THEN clock.now + a.retention_us + e.tombstone_us END,
                    reap_at = clock.now + a.retention_us,
                    unknown_since = CASE WHEN a.next = 6 THEN clock.now END
                FROM clock, lapsed a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.operation, e.created_at, e.attempt, e.state,
                          e.owner, a.was, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, made_by, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at,
                       CASE WHEN was = 1 OR attempt = 1 THEN owner END, attempt, was, state, 'sweeper', why
                FROM ended
            )
            SELECT tenant, space, key_ FROM ended""";

    /**
     * Deletes entries past their tombstone, makes tombstones of answers past retention, and puts off the rest: settled
     * entries until they expire, others until they could expire if they were settled now (unknown ones cannot: once a
     * day is enough). Processing entries wait a second at least, so that a retention of zero does not spin. Rows are met
     * again by their place (ctid): they are locked, so that none moves. No audit: what a purge does follows from the
     * settlement. But a settlement whose only record is the entry gets its row; the last parameter is 1 for that.
     */
    static final String PURGE = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), due AS MATERIALIZED (
                SELECT ctid AS at, purge_at <= (SELECT now FROM clock) IS TRUE AS gone,
                       (state IN (3, 4) AND expires_at <= (SELECT now FROM clock)) IS TRUE AS expired,
                       tenant, space, key_, operation, created_at, attempt, state, owner, settled_at, settled_why
                FROM onlyonce_entry
                WHERE reap_at <= (SELECT now FROM clock)
                ORDER BY reap_at LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), deleted AS (
                DELETE FROM onlyonce_entry e USING due d
                WHERE d.gone AND e.ctid = d.at
                RETURNING 1
            ), kept AS (
                UPDATE onlyonce_entry e
                SET state = CASE WHEN d.expired THEN 7 ELSE e.state END,
                    result = CASE WHEN d.expired THEN NULL ELSE e.result END,
                    settled_why = CASE WHEN d.expired THEN NULL ELSE e.settled_why END,
                    reap_at = CASE WHEN d.expired OR e.state = 7 THEN e.purge_at
                                   WHEN e.state IN (3, 4, 5) THEN e.expires_at
                                   WHEN e.state = 6 THEN clock.now + 86400000000
                                   ELSE clock.now + greatest(e.retention_us, 1000000) END
                FROM clock, due d
                WHERE NOT d.gone AND e.ctid = d.at
                RETURNING d.expired
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, settled_why
                FROM due
                WHERE (gone OR expired) AND settled_why IS NOT NULL AND state IN (3, 4) AND ?::int = 1
            )
            SELECT (SELECT count(*) FROM due),
                   (SELECT count(*) FROM deleted) + (SELECT count(*) FROM kept WHERE expired)""";

    /** A retryable entry with steps, or whose call is lasting, does not expire. -1: at whatever time the entry was made. */
    static final String RESOLVE = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), resolved AS (
                UPDATE onlyonce_entry e
                SET state = a.state, token = NULL, result = a.result, settled_at = clock.now, settled_why = NULL,
                    expires_at = clock.now + CASE WHEN a.state = 5 AND EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                              AND s.entry_created_at = e.created_at
                            UNION ALL
                            SELECT 1 FROM onlyonce_outbox o
                            WHERE o.tenant = e.tenant AND o.space = e.space AND o.key_ = e.key_
                              AND o.entry_created_at = e.created_at AND o.lasting = 1)
                        THEN 315360000000000 ELSE e.retention_us END,
                    purge_at = clock.now + CASE WHEN a.state <> 5 THEN e.retention_us + e.tombstone_us WHEN EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                              AND s.entry_created_at = e.created_at
                            UNION ALL
                            SELECT 1 FROM onlyonce_outbox o
                            WHERE o.tenant = e.tenant AND o.space = e.space AND o.key_ = e.key_
                              AND o.entry_created_at = e.created_at AND o.lasting = 1)
                        THEN 315360000000000 ELSE e.retention_us END,
                    reap_at = clock.now + e.retention_us,
                    unknown_since = NULL
                FROM clock,
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::int[]) AS attempt, unnest(?::smallint[]) AS state,
                             unnest(?::bytea[]) AS result, unnest(?::text[]) AS who, unnest(?::text[]) AS why,
                             unnest(?::bigint[]) AS created_at) AS a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                  AND e.attempt = a.attempt AND e.state = 6 AND a.created_at IN (-1, e.created_at)
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, a.who, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 6, state, who, why
                FROM resolved
            )
            SELECT tenant, space, key_, settled_at, expires_at FROM resolved""";

    static final String EVICT = """
            WITH evicted AS (
                DELETE FROM onlyonce_entry
                WHERE tenant = ? AND space = ? AND key_ = ? AND state IN (3, 4, 5, 7)
                  AND purge_at > (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
                RETURNING tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                          attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                          settled_at, expires_at, NULL::bytea,
                          (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now, settled_why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT at, tenant, space, key_, operation, created_at, attempt, from_state, to_state, who, why
                FROM (SELECT 1 AS place, settled_at AS at, tenant, space, key_, operation, created_at, attempt,
                             2::smallint AS from_state, state AS to_state, owner AS who, settled_why AS why
                      FROM evicted
                      WHERE settled_why IS NOT NULL AND state IN (3, 4)
                      UNION ALL
                      SELECT 2, now, tenant, space, key_, operation, created_at, attempt,
                             state, NULL::smallint, ?::text, ?::text
                      FROM evicted) AS ended
                ORDER BY place
            )
            SELECT * FROM evicted""";

    private PostgresUpkeep() {}
}
