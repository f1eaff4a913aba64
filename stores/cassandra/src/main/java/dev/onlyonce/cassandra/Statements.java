package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.EntryId;
import java.util.UUID;

/** The statements on the table {@code entry}. */
final class Statements {
    /** The record that is the entry itself. */
    static final UUID ENTRY = new UUID(0, 0);

    /** All of an entry but its result. */
    static final String HEAD =
            "state, claim_token, change, life, shard, attempt, operation, fingerprint, fingerprint_version, target, owner,"
                    + " on_lease_lost, lease_ms, retention_ms, tombstone_ms, created, lease_until, settled, expires";

    private static final String KEY = " WHERE tenant = :tenant AND scope = :scope AND key = :key AND record ";
    private static final String IS_ENTRY = KEY + "= 00000000-0000-0000-0000-000000000000 ";

    /** A refused write returns the columns of its condition, so this one returns the entry that is in its way. */
    private static final String ABSENT = "IF result = null AND " + HEAD.replace(", ", " = null AND ") + " = null";

    private static final String HELD =
            "IF claim_token = :held AND life = :held_life AND attempt = :held_attempt AND state = 2";
    private static final String UNCHANGED = "IF change = :expected";

    private static final String SET_ENTRY =
            "UPDATE entry USING TTL :ttl SET " + HEAD.replaceAll("(\\w+)", "$1 = :$1") + IS_ENTRY;
    private static final String SET_WHOLE = SET_ENTRY.replace(" SET ", " SET result = :result, ");
    private static final String SET_LEASE = "UPDATE entry SET lease_until = :lease_until, change = :change" + IS_ENTRY;
    private static final String DELETE = "DELETE FROM entry" + IS_ENTRY;

    final PreparedStatement begin;
    final PreparedStatement setHeld;
    final PreparedStatement setUnchanged;
    final PreparedStatement setWholeHeld;
    final PreparedStatement setWholeUnchanged;
    final PreparedStatement renewHeld;
    final PreparedStatement renewUnchanged;
    final PreparedStatement delete;
    final PreparedStatement setResult;
    final PreparedStatement record;
    final PreparedStatement proof;
    final PreparedStatement find;
    final PreparedStatement findHead;
    final PreparedStatement findProven;
    final PreparedStatement history;
    final PreparedStatement forget;

    Statements(CqlSession session) {
        begin = session.prepare(SET_ENTRY + ABSENT);
        setHeld = session.prepare(SET_ENTRY + HELD);
        setUnchanged = session.prepare(SET_ENTRY + UNCHANGED);
        setWholeHeld = session.prepare(SET_WHOLE + HELD);
        setWholeUnchanged = session.prepare(SET_WHOLE + UNCHANGED);
        renewHeld = session.prepare(SET_LEASE + HELD + " AND lease_until <= :lease_until");
        renewUnchanged = session.prepare(SET_LEASE + UNCHANGED);
        delete = session.prepare(DELETE + UNCHANGED);
        setResult = session.prepare("UPDATE entry USING TTL :ttl SET result = :result" + IS_ENTRY);
        record = session.prepare("""
                INSERT INTO entry (tenant, scope, key, record, operation, attempt, from_state, to_state, step, at, who, why)
                VALUES (:tenant, :scope, :key, :record, :operation, :attempt, :from_state, :to_state, :step, :at, :who, :why)
                USING TTL :ttl
                """);
        proof = session.prepare("""
                INSERT INTO entry (tenant, scope, key, record, step) VALUES (:tenant, :scope, :key, :record, 0) USING TTL 60
                """);
        find = session.prepare("SELECT " + HEAD + ", result FROM entry" + IS_ENTRY);
        findHead = session.prepare("SELECT " + HEAD + " FROM entry" + IS_ENTRY);
        findProven = session.prepare("SELECT record, " + HEAD + ", result FROM entry" + KEY + "IN :records");
        history = session.prepare("""
                SELECT record, operation, attempt, from_state, to_state, step, at, who, why, WRITETIME(step) AS written FROM entry
                """.strip() + KEY + "> 00000000-0000-0000-0000-000000000000");
        forget = session.prepare("DELETE FROM entry" + KEY + "= :record");
    }

    static BoundStatementBuilder on(PreparedStatement statement, EntryId id) {
        return statement
                .boundStatementBuilder()
                .setString("tenant", id.tenant())
                .setString("scope", id.scope())
                .setString("key", id.key());
    }

    static BoundStatement read(PreparedStatement statement, EntryId id) {
        return on(statement, id).setIdempotence(true).build();
    }

    static SimpleStatement of(String text, ConsistencyLevel level) {
        return SimpleStatement.newInstance(text).setConsistencyLevel(level).setIdempotent(true);
    }
}
