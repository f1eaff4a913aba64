package dev.onlyonce.sql.entries;

/**
 * Shorter statements for what most claims and settlements in PostgreSQL are: ordinary. {@link PostgresWriting} says when they go, {@link
 * PostgresStatements} has those that can do all of it.
 */
final class PostgresOrdinary {
    /** {@link PostgresStatements#INSERT} for claims on the same terms: half as many arrays, which take time on both sides. */
    static final String INSERT_ALIKE = """
            WITH terms AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now,
                       ?::int AS fingerprint_version, ?::bigint AS lease_us, ?::smallint AS on_lease_lost,
                       ?::bigint AS retention_us, ?::bigint AS tombstone_us, ?::smallint AS state, ?::text AS owner
            )
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT a.tenant, a.space, a.key_, a.operation, t.fingerprint_version, a.fingerprint, a.target, t.state, a.token, t.owner,
                   CASE t.state WHEN 2 THEN 1 ELSE 0 END,
                   t.lease_us, t.on_lease_lost, t.retention_us, t.tombstone_us,
                   t.now, t.now + t.lease_us, t.now + t.retention_us
            FROM terms t,
                 (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                         unnest(?::text[]) AS operation, unnest(?::bytea[]) AS fingerprint, unnest(?::uuid[]) AS token,
                         unnest(?::text[]) AS target) AS a
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING tenant, space, key_, attempt""";

    /**
     * {@link PostgresStatements#INSERT_ONE} for a caller that is alone, as a transaction of its own. The bound on lock waits is set by the statement itself, before the
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
            FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now,
                         set_config('lock_timeout', '200', true) AS bound) AS clock,
                 (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::text AS operation,
                         ?::int AS fingerprint_version, ?::bytea AS fingerprint, ?::uuid AS token, ?::text AS owner,
                         ?::bigint AS lease_us, ?::smallint AS on_lease_lost, ?::bigint AS retention_us,
                         ?::bigint AS tombstone_us, ?::text AS target, ?::smallint AS state) AS a
            WHERE clock.bound IS NOT NULL
            ON CONFLICT (tenant, space, key_) DO NOTHING
            RETURNING attempt, ctid, current_setting('synchronous_standby_names') <> ''""";

    /** Whether a commit may wait for a standby. */
    static final String REPLICATED = "SELECT current_setting('synchronous_standby_names') <> ''";

    /**
     * Ordinary settlements of a batch, for which there is nothing to audit. The second command and the copies of its rows would take a tenth
     * of the server's time. What is not ordinary stays as it is.
     */
    static final String SETTLE_ORDINARY = """
            WITH clock AS MATERIALIZED (
                SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            )
            UPDATE onlyonce_entry e
            SET state = a.state, result = a.result, settled_why = a.why, settled_at = clock.now,
                expires_at = clock.now + e.retention_us, purge_at = clock.now + e.retention_us + e.tombstone_us
            FROM clock,
                 (SELECT unnest(?::text[]) AS tenant, unnest(?::text[]) AS space, unnest(?::text[]) AS key_,
                         unnest(?::uuid[]) AS token, unnest(?::smallint[]) AS state,
                         unnest(?::bytea[]) AS result, unnest(?::text[]) AS why) AS a
            WHERE e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
              AND e.token = a.token AND e.state = 2
              AND e.lease_until BETWEEN clock.now AND clock.now + 300000000
            RETURNING e.tenant, e.space, e.key_, e.settled_at, e.expires_at""";

    /**
     * An ordinary settlement of a caller that is alone, as a transaction of its own: see {@link #INSERT_ALONE}. It needs no row of the audit.
     * Nothing keeps the planner from scanning a table of a few pages, so this is only for tables that are larger.
     */
    static final String SETTLE_ALONE = """
            UPDATE onlyonce_entry e
            SET state = a.state, result = a.result, settled_why = a.why, settled_at = clock.now,
                expires_at = clock.now + e.retention_us, purge_at = clock.now + e.retention_us + e.tombstone_us
            FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now,
                         set_config('lock_timeout', '200', true) AS bound) AS clock,
                 (SELECT ?::text AS tenant, ?::text AS space, ?::text AS key_, ?::uuid AS token,
                         ?::smallint AS state, ?::bytea AS result, ?::text AS why) AS a
            WHERE clock.bound IS NOT NULL AND e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_
              AND e.token = a.token AND e.state = 2
              AND e.lease_until BETWEEN clock.now AND clock.now + 300000000
            RETURNING e.settled_at, e.expires_at, current_setting('synchronous_standby_names') <> ''""";

    private PostgresOrdinary() {}
}
