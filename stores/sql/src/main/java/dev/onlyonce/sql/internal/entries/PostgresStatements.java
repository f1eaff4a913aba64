package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.IdleBound;
import dev.onlyonce.sql.internal.connections.Standby;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The short cuts of PostgreSQL: fresh claims, one's own settlements, renewals and reading. {@link ChangeTexts} has the rest. A statement takes a batch as
 * arrays.
 *
 * <p>The arrays are unnested side by side in a SELECT list, because {@code FROM unnest(a, b, …)} fills a temporary store for
 * each array, which costs as much as the row's way into an index.
 */
final class PostgresStatements {
    static final String CLOCK = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

    /** The same time wherever it stands in a statement, which needs no subquery to keep it. */
    static final String STATEMENT_CLOCK = "(date_part('epoch', statement_timestamp()) * 1000000)::bigint";

    /**
     * Bounds lock waits and run time (milliseconds), and makes the commit last. The wait is long enough for another node's commit, and no longer: a
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
                   set_config('jit', 'off', true),
            """ + Standby.SYNCHRONOUS;

    /** What statements for one row need of it: every setting costs a lone caller. */
    static final String SETTINGS_ONE = """
            SELECT set_config('lock_timeout', '200', true), set_config('enable_seqscan', 'off', true),
            """ + Standby.SYNCHRONOUS;

    /** The schema whose tables a connection reaches by itself. */
    static final String HOME = """
            SELECT quote_ident(n.nspname)
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = to_regclass('onlyonce_entry')""";

    /** After the settings, for a statement that can skip locked rows. */
    static final String HARDLY_WAIT = "SELECT set_config('lock_timeout', '20', true)";

    /** After the settings, for an operator or a worker, who wants this row and no other. Alone for {@link SqlDialect#bounded}. */
    static final String WAIT = "SELECT set_config('lock_timeout', '2000', true), " + Standby.SYNCHRONOUS;

    /** The rule for a new entry. The unique key decides: nothing is read first. */
    static final String INSERT = """
            WITH clock AS MATERIALIZED (
                SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now
            )
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT a.tenant, a.space, a.key_, a.operation, a.fingerprint_version, a.fingerprint, a.target, a.state, a.token, a.owner,
                   CASE a.state WHEN 2 THEN 1 ELSE 0 END,
                   a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us,
                   (SELECT now FROM clock), (SELECT now FROM clock) + a.lease_us, (SELECT now FROM clock) + a.retention_us
            FROM (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                         unnest(?::text[]) AS operation, unnest(?::int[]) AS fingerprint_version,
                         unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                         unnest(?::text[]) AS owner, unnest(?::bigint[]) AS lease_us,
                         unnest(?::smallint[]) AS on_lease_lost, unnest(?::bigint[]) AS retention_us,
                         unnest(?::bigint[]) AS tombstone_us, unnest(?::text[]) AS target, unnest(?::smallint[]) AS state) AS a
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING tenant, space, key_, attempt""";

    /**
     * A new entry that is completed at once: for a transaction that makes the effect before it commits, and has nothing else to record.
     * Its lease is short, so it is its own record in the audit.
     */
    static final String INSERT_COMPLETED = """
            WITH clock AS MATERIALIZED (
                SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now
            )
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at,
                settled_at, expires_at, purge_at, result, settled_why)
            SELECT a.tenant, a.space, a.key_, a.operation, a.fingerprint_version, a.fingerprint, a.target, 3, a.token, a.owner, 1,
                   a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us,
                   (SELECT now FROM clock), (SELECT now FROM clock) + a.lease_us, (SELECT now FROM clock) + a.retention_us,
                   (SELECT now FROM clock), (SELECT now FROM clock) + a.retention_us,
                   (SELECT now FROM clock) + a.retention_us + a.tombstone_us, a.result, a.why
            FROM (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                         unnest(?::text[]) AS operation, unnest(?::int[]) AS fingerprint_version,
                         unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                         unnest(?::text[]) AS owner, unnest(?::bigint[]) AS lease_us,
                         unnest(?::smallint[]) AS on_lease_lost, unnest(?::bigint[]) AS retention_us,
                         unnest(?::bigint[]) AS tombstone_us, unnest(?::text[]) AS target,
                         unnest(?::smallint[]) AS state,
                         unnest(?::bytea[]) AS result, unnest(?::text[]) AS why) AS a
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING tenant, space, key_, settled_at, expires_at""";

    /** The same for one row: a lone caller should not pay for arrays. */
    static final String INSERT_ONE = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT a.tenant, a.space, a.key_, a.operation, a.fingerprint_version, a.fingerprint, a.target, a.state, a.token, a.owner,
                   CASE a.state WHEN 2 THEN 1 ELSE 0 END,
                   a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us,
                   clock.now, clock.now + a.lease_us, clock.now + a.retention_us
            FROM (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now) AS clock,
                 (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::text AS operation,
                         ?::int AS fingerprint_version, ?::bytea AS fingerprint, ?::uuid AS token, ?::text AS owner,
                         ?::bigint AS lease_us, ?::smallint AS on_lease_lost, ?::bigint AS retention_us,
                         ?::bigint AS tombstone_us, ?::text AS target, ?::smallint AS state) AS a
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING tenant, space, key_, attempt""";

    /**
     * The same for a caller that is alone, as a transaction of its own. The bound on lock waits is set by the statement itself, before the
     * row is written: a statement in front costs a third as much as this one. The index that decides needs no plan. Returns where the
     * row is, for {@link #SETTLE_ALONE}, and whether commits wait for a standby.
     */
    static final String INSERT_ALONE = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT a.tenant, a.space, a.key_, a.operation, a.fingerprint_version, a.fingerprint, a.target, a.state, a.token, a.owner,
                   CASE a.state WHEN 2 THEN 1 ELSE 0 END,
                   a.lease_us, a.on_lease_lost, a.retention_us, a.tombstone_us,
                   clock.now, clock.now + a.lease_us, clock.now + a.retention_us
            FROM (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now,
                         set_config('lock_timeout', '200', true) ||
            """ + Standby.SYNCHRONOUS + """
             AS bound) AS clock,
                 (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::text AS operation,
                         ?::int AS fingerprint_version, ?::bytea AS fingerprint, ?::uuid AS token, ?::text AS owner,
                         ?::bigint AS lease_us, ?::smallint AS on_lease_lost, ?::bigint AS retention_us,
                         ?::bigint AS tombstone_us, ?::text AS target, ?::smallint AS state) AS a
            WHERE clock.bound IS NOT NULL
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING attempt, ctid, current_setting('synchronous_standby_names') <> ''""";

    /**
     * The same in a transaction that somebody else has begun. The statement brings what the transaction needs, before the row is written: a
     * bound on the time that the rest of it may be idle, and a commit that lasts. It inserts only if nobody else announces the
     * same key, by an advisory lock that ends with the transaction or its savepoint. So it does not wait for a request with this key, and
     * needs no bound on lock waits: those that remain are short, and no duplicates. The lock decides nothing else: two keys
     * may share it.
     */
    static final String INSERT_WITHIN = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, token, owner,
                lease_us, on_lease_lost, retention_us, tombstone_us, target, state, attempt, created_at, lease_until, reap_at)
            SELECT ?::text, ?::text, ?::text, ?::text, ?::int, ?::bytea, ?::uuid, ?::text,
                   ?::bigint, ?::smallint, ?::bigint, ?::bigint, ?::text, ?::smallint, 1,
                   (date_part('epoch', statement_timestamp()) * 1000000)::bigint,
                   (date_part('epoch', statement_timestamp()) * 1000000)::bigint + ?::bigint,
                   (date_part('epoch', statement_timestamp()) * 1000000)::bigint + ?::bigint
            WHERE pg_try_advisory_xact_lock(?::bigint)
              AND
            """ + IdleBound.of("?::text") + " ||\n" + Standby.SYNCHRONOUS + """
             IS NOT NULL
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING attempt""";

    /** Whether a commit may wait for a standby. */
    static final String REPLICATED = "SELECT current_setting('synchronous_standby_names') <> ''";

    /**
     * Only the owner settles, and only once. No indexed column changes, except for unknown. An ordinary settlement is its own
     * record, in settled_why: see {@link AuditTable}.
     */
    static final String SETTLE = """
            WITH clock AS MATERIALIZED (
                SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now
            ), settled AS (
                UPDATE onlyonce_entry e
                SET state = a.state, result = a.result, settled_at = clock.now,
                    expires_at = CASE WHEN a.state <> 6 THEN clock.now + e.retention_us END,
                    purge_at = CASE WHEN a.state = 5 THEN clock.now + e.retention_us
                                    WHEN a.state <> 6 THEN clock.now + e.retention_us + e.tombstone_us END,
                    unknown_since = CASE WHEN a.state = 6 THEN clock.now END,
                    settled_why = CASE WHEN a.state IN (3, 4)
                        AND e.lease_until BETWEEN clock.now AND clock.now + 300000000 THEN a.why END
                FROM clock,
                     (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                             unnest(?::uuid[]) AS token, unnest(?::smallint[]) AS state,
                             unnest(?::bytea[]) AS result, unnest(?::text[]) AS why) AS a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                  AND e.token = a.token AND e.state = 2
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, e.owner, e.settled_why, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, why
                FROM settled
                WHERE settled_why IS NULL
            )
            SELECT tenant, space, key_, settled_at, expires_at FROM settled""";

    /** The same around rows that somebody else has locked. It costs more: every row is locked before it is changed. */
    static final String SETTLE_UNLOCKED = """
            WITH clock AS MATERIALIZED (
                SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now
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
                    unknown_since = CASE WHEN a.state = 6 THEN clock.now END,
                    settled_why = CASE WHEN a.state IN (3, 4)
                        AND e.lease_until BETWEEN clock.now AND clock.now + 300000000 THEN a.why END
                FROM clock, held a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, e.owner, e.settled_why, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, why
                FROM settled
                WHERE settled_why IS NULL
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
                    unknown_since = CASE WHEN a.state = 6 THEN clock.now END,
                    settled_why = CASE WHEN a.state IN (3, 4)
                        AND e.lease_until BETWEEN clock.now AND clock.now + 300000000 THEN a.why END
                FROM (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now) AS clock,
                     (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::uuid AS token,
                             ?::smallint AS state, ?::bytea AS result, ?::text AS why) AS a
                WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
                  AND e.token = a.token AND e.state = 2
                RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at,
                          e.operation, e.created_at, e.attempt, e.state, e.owner, e.settled_why, a.why
            ), audited AS (
                INSERT INTO onlyonce_audit (
                    at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
                SELECT settled_at, tenant, space, key_, operation, created_at, attempt, 2, state, owner, why
                FROM settled
                WHERE settled_why IS NULL
            )
            SELECT tenant, space, key_, settled_at, expires_at FROM settled""";

    /**
     * An ordinary settlement of a caller that is alone, as a transaction of its own: see {@link #INSERT_ALONE}. It needs no row of the audit.
     * Nothing keeps the planner from scanning a table of a few pages, so this is only for tables that are larger.
     */
    static final String SETTLE_ALONE = """
            UPDATE onlyonce_entry e
            SET state = a.state, result = a.result, settled_why = a.why, settled_at = clock.now,
                expires_at = clock.now + e.retention_us, purge_at = clock.now + e.retention_us + e.tombstone_us
            FROM (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now,
                         set_config('lock_timeout', '200', true) ||
            """ + Standby.SYNCHRONOUS + """
             AS bound) AS clock,
                 (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::uuid AS token,
                         ?::smallint AS state, ?::bytea AS result, ?::text AS why) AS a
            WHERE clock.bound IS NOT NULL AND e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
              AND e.token = a.token AND e.state = 2
              AND e.lease_until BETWEEN clock.now AND clock.now + 300000000
            RETURNING e.settled_at, e.expires_at, current_setting('synchronous_standby_names') <> ''""";

    /**
     * An ordinary settlement in the transaction that has claimed. With 1 as the last parameter that must be this one itself, and not one
     * before it: the action may have ended the transaction. A row that was written behind a savepoint does not count as its own.
     */
    static final String SETTLE_WITHIN = """
            UPDATE onlyonce_entry e
            SET state = a.state, result = a.result, settled_why = a.why,
                settled_at = (date_part('epoch', statement_timestamp()) * 1000000)::bigint,
                expires_at = (date_part('epoch', statement_timestamp()) * 1000000)::bigint + e.retention_us,
                purge_at = (date_part('epoch', statement_timestamp()) * 1000000)::bigint + e.retention_us + e.tombstone_us
            FROM (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::uuid AS token,
                         ?::smallint AS state, ?::bytea AS result, ?::text AS why, ?::bigint AS own) AS a
            WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
              AND e.token = a.token AND e.state = 2
              AND e.lease_until BETWEEN (date_part('epoch', statement_timestamp()) * 1000000)::bigint
                  AND (date_part('epoch', statement_timestamp()) * 1000000)::bigint + 300000000
              AND (a.own = 0 OR e.xmin = pg_current_xact_id()::xid)
            RETURNING e.settled_at, e.expires_at""";

    /**
     * Whether a claim was made by this transaction itself: see {@link #SETTLE_WITHIN}. The driver may have made it behind a savepoint of its
     * own (autosave), under another number: what is visible and not committed is this transaction's.
     */
    static final String IS_WITHIN = """
            SELECT 1
            FROM onlyonce_entry e
            WHERE e.tenant = ? AND e.space = ? AND e.key_ = ? AND e.token = ?
              AND pg_xact_status(((pg_current_xact_id()::text::bigint >> 32 << 32) | e.xmin::text::bigint)::text::xid8)
                  = 'in progress'""";

    /** A heartbeat: whoever has locked a row costs no other its lease. */
    static final String RENEW = """
            WITH clock AS MATERIALIZED (
                SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now
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
            SET lease_until = GREATEST(e.lease_until, clock.now + a.lease_us)
            FROM clock, held a
            WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            RETURNING e.tenant, e.space, e.key_""";

    static final String FIND = """
            WITH clock AS MATERIALIZED (
                SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now
            )
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.target, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, e.result, clock.now
            FROM clock,
                 (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_) AS a
                 JOIN onlyonce_entry e ON e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
            WHERE e.purge_at IS NULL OR e.purge_at > clock.now""";

    /** The same for one row. */
    static final String FIND_ONE = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.target, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, e.result, clock.now
            FROM (SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint AS now) AS clock, onlyonce_entry e
            WHERE e.tenant = ? AND e.space = ? AND e.key_ = ? AND (e.purge_at IS NULL OR e.purge_at > clock.now)""";

    /** All of them, with a name for each. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("settings", SETTINGS);
        all.put("settings for one row", SETTINGS_ONE);
        all.put("claim", INSERT);
        all.put("claim one", INSERT_ONE);
        all.put("claim alone", INSERT_ALONE);
        all.put("claim in a transaction", INSERT_WITHIN);
        all.put("claim and complete", INSERT_COMPLETED);
        all.put("settle", SETTLE);
        all.put("settle one", SETTLE_ONE);
        all.put("settle alone", SETTLE_ALONE);
        all.put("settle in a transaction", SETTLE_WITHIN);
        all.put("was claimed in this transaction", IS_WITHIN);
        all.put("settle around locks", SETTLE_UNLOCKED);
        all.put("renew", RENEW);
        all.put("find", FIND);
        all.put("find one", FIND_ONE);
        return all;
    }

    private PostgresStatements() {}
}
