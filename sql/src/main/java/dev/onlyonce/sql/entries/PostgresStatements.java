package dev.onlyonce.sql.entries;

/**
 * What PostgreSQL is asked. A statement takes a batch as arrays.
 *
 * <p>The arrays are unnested side by side in a SELECT list, because {@code FROM unnest(a, b, …)} fills a temporary store for
 * each array, which costs as much as the row's way into an index.
 */
final class PostgresStatements {
    static final String CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    /**
     * Bounds lock waits and run time (milliseconds). The wait is long enough for another node's commit, and no longer: a
     * batch that waits keeps everybody in it waiting, and what was locked is gone around. It also plans every statement once, as index look-ups driven by the
     * arrays: the planner would scan a table that was small when it looked, and go on doing so while it grows.
     */
    static final String SETTINGS = """
            SELECT set_config('lock_timeout', '200', true),
                   set_config('statement_timeout', '10000', true),
                   set_config('plan_cache_mode', 'force_generic_plan', true),
                   set_config('enable_seqscan', 'off', true),
                   set_config('enable_bitmapscan', 'off', true),
                   set_config('enable_hashjoin', 'off', true),
                   set_config('enable_mergejoin', 'off', true),
                   set_config('jit', 'off', true)""";

    /** What statements for one row need of it: every setting costs a lone caller. */
    static final String SETTINGS_ONE = """
            SELECT set_config('lock_timeout', '200', true), set_config('enable_seqscan', 'off', true)""";

    /** The schema whose tables a connection reaches by itself. */
    static final String HOME = """
            SELECT quote_ident(n.nspname)
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = to_regclass('onlyonce_entry')""";

    /** After the settings, for a statement that can do without what is locked. */
    static final String HARDLY_WAIT = "SELECT set_config('lock_timeout', '20', true)";

    /** After the settings, for an operator or a worker, who wants this row and no other. */
    static final String WAIT = "SELECT set_config('lock_timeout', '2000', true)";

    /** The rule for a new entry. The unique key decides: nothing is read first. */
    static final String INSERT = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            )
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT a.tenant, a.space, a.key_, a.operation, a.fingerprint_version, a.fingerprint, a.state, a.token, a.owner,
                   CASE a.state WHEN 2 THEN 1 ELSE 0 END,
                   a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us,
                   (SELECT now FROM clock), (SELECT now FROM clock) + a.lease_us, (SELECT now FROM clock) + a.retention_us
            FROM (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                         unnest(?::text[]) AS operation, unnest(?::int[]) AS fingerprint_version,
                         unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                         unnest(?::text[]) AS owner, unnest(?::bigint[]) AS lease_us,
                         unnest(?::smallint[]) AS on_lease_lost, unnest(?::bigint[]) AS retention_us,
                         unnest(?::bigint[]) AS tombstone_us, unnest(?::smallint[]) AS state) AS a
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING tenant, space, key_, attempt""";

    /** The same for one row: a lone caller should not pay for arrays. */
    static final String INSERT_ONE = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT a.tenant, a.space, a.key_, a.operation, a.fingerprint_version, a.fingerprint, a.state, a.token, a.owner,
                   CASE a.state WHEN 2 THEN 1 ELSE 0 END,
                   a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us,
                   clock.now, clock.now + a.lease_us, clock.now + a.retention_us
            FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) AS clock,
                 (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::text AS operation,
                         ?::int AS fingerprint_version, ?::bytea AS fingerprint, ?::uuid AS token, ?::text AS owner,
                         ?::bigint AS lease_us, ?::smallint AS on_lease_lost, ?::bigint AS retention_us,
                         ?::bigint AS tombstone_us, ?::smallint AS state) AS a
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING tenant, space, key_, attempt""";

    /** A lost acknowledgement: the entry is the caller's already. */
    static final String KEEP = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), own AS MATERIALIZED (
                SELECT e.tenant, e.space, e.key_
                FROM
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::text[]) AS operation, unnest(?::int[]) AS fingerprint_version,
                             unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                             unnest(?::text[]) AS owner, unnest(?::bigint[]) AS lease_us,
                             unnest(?::smallint[]) AS on_lease_lost, unnest(?::bigint[]) AS retention_us,
                             unnest(?::bigint[]) AS tombstone_us, unnest(?::smallint[]) AS state) AS a
                     JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                WHERE e.token = a.token AND e.state = a.state
                FOR UPDATE OF e SKIP LOCKED
            )
            UPDATE onlyonce_entry e
            SET lease_until = clock.now + e.lease_us
            FROM clock, own a
            WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            RETURNING e.tenant, e.space, e.key_, e.attempt""";

    /** A pending or retryable entry of the same request gets its next attempt. */
    static final String TAKE = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), free AS MATERIALIZED (
                SELECT e.tenant, e.space, e.key_, e.state AS was, e.owner AS was_owner, a.token, a.owner,
                       a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us
                FROM clock,
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::text[]) AS operation, unnest(?::int[]) AS fingerprint_version,
                             unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                             unnest(?::text[]) AS owner, unnest(?::bigint[]) AS lease_us,
                             unnest(?::smallint[]) AS on_lease_lost, unnest(?::bigint[]) AS retention_us,
                             unnest(?::bigint[]) AS tombstone_us, unnest(?::smallint[]) AS state) AS a
                     JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                WHERE a.state = 2 AND e.state IN (1, 5) AND (e.purge_at IS NULL OR e.purge_at > clock.now)
                  AND e.operation = a.operation
                  AND e.fingerprint_version = a.fingerprint_version AND e.fingerprint = a.fingerprint
                FOR UPDATE OF e SKIP LOCKED
            ), taken AS (
                UPDATE onlyonce_entry e
                SET state = 2, token = a.token, owner = a.owner, attempt = e.attempt + 1,
                    lease_us = a.lease_us, on_lease_lost = a.on_lease_lost,
                    retention_us = a.retention_us, tombstone_us = a.tombstone_us,
                    lease_until = clock.now + a.lease_us, settled_at = NULL, expires_at = NULL, purge_at = NULL,
                    reap_at = clock.now + a.retention_us, unknown_since = NULL, result = NULL
                FROM clock, free a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                RETURNING clock.now, e.tenant, e.space, e.key_, e.operation, e.created_at, e.attempt, e.owner,
                          a.was, a.was_owner
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, made_by, attempt, from_state, to_state, who, why)
                SELECT now, tenant, space, key_, operation, created_at, CASE was WHEN 1 THEN was_owner END, attempt,
                       was, 2, owner, 'claimed'
                FROM taken
            )
            SELECT tenant, space, key_, attempt FROM taken""";

    /** An entry past its retention and tombstone counts as absent. */
    static final String REPLACE = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), gone AS MATERIALIZED (
                SELECT a.*, e.operation AS was_operation, e.created_at AS was_created_at, e.attempt AS was_attempt,
                       e.state AS was
                FROM clock,
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::text[]) AS operation, unnest(?::int[]) AS fingerprint_version,
                             unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                             unnest(?::text[]) AS owner, unnest(?::bigint[]) AS lease_us,
                             unnest(?::smallint[]) AS on_lease_lost, unnest(?::bigint[]) AS retention_us,
                             unnest(?::bigint[]) AS tombstone_us, unnest(?::smallint[]) AS state) AS a
                     JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                WHERE e.purge_at <= clock.now
                FOR UPDATE OF e SKIP LOCKED
            ), replaced AS (
                UPDATE onlyonce_entry e
                SET operation = a.operation, fingerprint_version = a.fingerprint_version, fingerprint = a.fingerprint,
                    state = a.state, token = a.token, owner = a.owner, attempt = CASE a.state WHEN 2 THEN 1 ELSE 0 END,
                    lease_us = a.lease_us, on_lease_lost = a.on_lease_lost,
                    retention_us = a.retention_us, tombstone_us = a.tombstone_us,
                    created_at = clock.now, lease_until = clock.now + a.lease_us,
                    settled_at = NULL, expires_at = NULL, purge_at = NULL,
                    reap_at = clock.now + a.retention_us, unknown_since = NULL, result = NULL
                FROM clock, gone a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                RETURNING e.tenant, e.space, e.key_, e.attempt, e.created_at, e.owner,
                          a.was_operation, a.was_created_at, a.was_attempt, a.was
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, who, why)
                SELECT created_at, tenant, space, key_, was_operation, was_created_at, was_attempt, was, owner,
                       'its retention is over'
                FROM replaced
            )
            SELECT tenant, space, key_, attempt FROM replaced""";

    /** Only the owner settles, and only once. No indexed column changes, except for unknown. */
    static final String SETTLE = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), settled AS (
                UPDATE onlyonce_entry e
                SET state = a.state, result = a.result, settled_at = clock.now,
                    expires_at = CASE WHEN a.state <> 6 THEN clock.now + e.retention_us END,
                    purge_at = CASE WHEN a.state = 5 THEN clock.now + e.retention_us
                                    WHEN a.state <> 6 THEN clock.now + e.retention_us + e.tombstone_us END,
                    unknown_since = CASE WHEN a.state = 6 THEN clock.now END
                FROM clock,
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::uuid[]) AS token, unnest(?::smallint[]) AS state,
                             unnest(?::bytea[]) AS result, unnest(?::text[]) AS why) AS a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                  AND e.token = a.token AND e.state = 2
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, e.owner, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, why
                FROM settled
            )
            SELECT tenant, space, key_, settled_at, expires_at FROM settled""";

    /** The same around rows that somebody else has locked. It costs more: every row is locked before it is changed. */
    static final String SETTLE_UNLOCKED = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), held AS MATERIALIZED (
                SELECT e.tenant, e.space, e.key_, a.state, a.result, a.why
                FROM
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::uuid[]) AS token, unnest(?::smallint[]) AS state,
                             unnest(?::bytea[]) AS result, unnest(?::text[]) AS why) AS a
                     JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                WHERE e.token = a.token AND e.state = 2
                FOR UPDATE OF e SKIP LOCKED
            ), settled AS (
                UPDATE onlyonce_entry e
                SET state = a.state, result = a.result, settled_at = clock.now,
                    expires_at = CASE WHEN a.state <> 6 THEN clock.now + e.retention_us END,
                    purge_at = CASE WHEN a.state = 5 THEN clock.now + e.retention_us
                                    WHEN a.state <> 6 THEN clock.now + e.retention_us + e.tombstone_us END,
                    unknown_since = CASE WHEN a.state = 6 THEN clock.now END
                FROM clock, held a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, e.owner, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, why
                FROM settled
            )
            SELECT tenant, space, key_, settled_at, expires_at FROM settled""";

    /** The same for one row. */
    static final String SETTLE_ONE = """
            WITH settled AS (
                UPDATE onlyonce_entry e
                SET state = a.state, result = a.result, settled_at = clock.now,
                    expires_at = CASE WHEN a.state <> 6 THEN clock.now + e.retention_us END,
                    purge_at = CASE WHEN a.state = 5 THEN clock.now + e.retention_us
                                    WHEN a.state <> 6 THEN clock.now + e.retention_us + e.tombstone_us END,
                    unknown_since = CASE WHEN a.state = 6 THEN clock.now END
                FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) AS clock,
                     (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::uuid AS token,
                             ?::smallint AS state, ?::bytea AS result, ?::text AS why) AS a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                  AND e.token = a.token AND e.state = 2
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, e.owner, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, why
                FROM settled
            )
            SELECT tenant, space, key_, settled_at, expires_at FROM settled""";

    /** A heartbeat: whoever has locked a row costs no other its lease. */
    static final String RENEW = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), held AS MATERIALIZED (
                SELECT e.tenant, e.space, e.key_, a.lease_us
                FROM
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::uuid[]) AS token, unnest(?::bigint[]) AS lease_us) AS a
                     JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                WHERE e.token = a.token AND e.state = 2
                FOR UPDATE OF e SKIP LOCKED
            )
            UPDATE onlyonce_entry e
            SET lease_until = clock.now + a.lease_us
            FROM clock, held a
            WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            RETURNING e.tenant, e.space, e.key_""";

    static final String FIND = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            )
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, e.result, clock.now
            FROM clock,
                 (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_) AS a
                 JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at IS NULL OR e.purge_at > clock.now""";

    /** The same for one row. */
    static final String FIND_ONE = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, e.result, clock.now
            FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) AS clock, onlyonce_entry e
            WHERE e.tenant = ? AND e.space = ? AND e.key_ = ? AND (e.purge_at IS NULL OR e.purge_at > clock.now)""";

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
                SET state = a.next, token = NULL, result = NULL, settled_at = clock.now,
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
     * Deletes what is past everything, makes tombstones of answers past retention, and puts off the rest: settled
     * entries until they expire, others until they could expire if they were settled now (unknown ones cannot: once a
     * day is enough). Processing entries wait a second at least, so that a retention of zero does not spin. Rows are met
     * again by their place (ctid): they are locked, so that none moves. No audit: what the reaper does follows from the
     * settlement.
     */
    static final String REAP = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), due AS MATERIALIZED (
                SELECT ctid AS at, purge_at <= (SELECT now FROM clock) IS TRUE AS gone,
                       (state IN (3, 4) AND expires_at <= (SELECT now FROM clock)) IS TRUE AS expired
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
                    reap_at = CASE WHEN d.expired OR e.state = 7 THEN e.purge_at
                                   WHEN e.state IN (3, 4, 5) THEN e.expires_at
                                   WHEN e.state = 6 THEN clock.now + 86400000000
                                   ELSE clock.now + greatest(e.retention_us, 1000000) END
                FROM clock, due d
                WHERE NOT d.gone AND e.ctid = d.at
                RETURNING d.expired
            )
            SELECT (SELECT count(*) FROM due),
                   (SELECT count(*) FROM deleted) + (SELECT count(*) FROM kept WHERE expired)""";

    /** A retryable entry with steps is half done and does not expire. -1: at whatever time the entry was made. */
    static final String RESOLVE = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), resolved AS (
                UPDATE onlyonce_entry e
                SET state = a.state, token = NULL, result = a.result, settled_at = clock.now,
                    expires_at = clock.now + CASE WHEN a.state = 5 AND EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                              AND s.entry_created_at = e.created_at)
                        THEN 315360000000000 ELSE e.retention_us END,
                    purge_at = clock.now + CASE WHEN a.state <> 5 THEN e.retention_us + e.tombstone_us WHEN EXISTS (
                            SELECT 1 FROM onlyonce_step s
                            WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                              AND s.entry_created_at = e.created_at)
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
                RETURNING tenant, space, key_, operation, fingerprint_version, fingerprint, state, token, owner,
                          attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                          settled_at, expires_at, NULL::bytea,
                          (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, who, why)
                SELECT now, tenant, space, key_, operation, created_at, attempt, state, ?, ?
                FROM evicted
            )
            SELECT * FROM evicted""";

    private PostgresStatements() {}
}
