package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.Transaction;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * H2 2.2 and newer, in its regular and its PostgreSQL mode. As with SQLite there is most often no network to save round trips
 * on: a batch is short statements for each row, all in one transaction. But H2 has row locks, so that a row that somebody else
 * holds is waited for or skipped, as on the servers.
 */
public final class H2 implements SqlDialect {
    /**
     * How a transaction begins: JDBC's way, not by a statement. A client of an H2 server that believes to be in auto-commit mode may
     * reconnect silently and send its last statement again, without the transaction around it.
     */
    public static final List<String> BEGIN = List.of();

    /** Long enough for another node's commit, and no longer: a batch that waits keeps everybody in it waiting. */
    private static final int BRIEFLY_MS = 200;
    /** For what can skip locked rows: only an insert waits. */
    private static final int HARDLY_MS = 20;
    /** For an operator or a worker, who wants this row and no other. */
    private static final int WAIT_MS = 2_000;

    private final String clock;
    private final StatementTexts texts;
    private final H2Changes changes;
    private final LifeChanges life;
    private final H2Queries queries;

    /**
     * The statements.
     *
     * @param clock for tests: another clock than the machine's
     * @param audit whether an ordinary life's record outlives its entry
     * @param home the schema of the tables, quoted: every connection reaches the tables there, whatever its schema
     */
    public H2(Optional<String> clock, AuditLevel audit, Optional<String> home) {
        this.clock = clock.orElse(H2Statements.CLOCK);
        this.texts = new StatementTexts(H2Statements.CLOCK, this.clock, StatementTexts.inSchema(home));
        this.queries = new H2Queries(texts);
        this.life = new LifeChanges(this, audit);
        this.changes = new H2Changes(queries, life);
    }

    /** The schema that a connection is in, quoted. */
    public static Optional<String> home(Connection connection) throws SQLException {
        return Optional.of('"' + connection.getSchema().replace("\"", "\"\"") + '"');
    }

    @Override
    public SqlDatabase kind() {
        return SqlDatabase.H2;
    }

    @Override
    public Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        return Transaction.run(
                connection,
                BEGIN,
                c -> new Written(
                        settlements.isEmpty()
                                ? Map.of()
                                : H2LockTimeout.run(
                                        c, BRIEFLY_MS, b -> changes.settled(b, settlements, H2Queries.WAIT)),
                        claims.isEmpty() ? Map.of() : queries.insert(c, claims, BRIEFLY_MS)));
    }

    @Override
    public Map<EntryId, SettleResult.Settled> settleUnlocked(Connection connection, List<Settlement> settlements)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.settled(c, settlements, H2Queries.SKIP));
    }

    /** An entry that is not committed shows itself by nothing but the wait for it. */
    @Override
    public Inserted insert(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return new Inserted(Transaction.run(connection, BEGIN, c -> queries.insert(c, claims, HARDLY_MS)), Set.of());
    }

    @Override
    public Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Entry> found = new HashMap<>();
        for (EntryId id : ids) {
            queries.one(connection, H2Statements.FIND, H2Queries.of(id), H2Queries::entry)
                    .ifPresent(entry -> found.put(id, entry));
        }
        return found;
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.renewed(c, renewals));
    }

    @Override
    public <T> T changing(Connection connection, LifeChanges.Waiting waiting, Connections.Work<T> work)
            throws SQLException {
        if (!connection.getAutoCommit()) {
            return work.run(connection);
        }
        return waiting == LifeChanges.Waiting.PATIENTLY
                ? H2LockTimeout.run(connection, WAIT_MS, bounded -> Transaction.run(bounded, BEGIN, work))
                : Transaction.run(connection, BEGIN, work);
    }

    @Override
    public <R> List<R> query(Connection connection, String sql, Binding parameters, RowReader<R> reader)
            throws SQLException {
        return queries.all(connection, sql, parameters, reader);
    }

    @Override
    public LifeChanges changes() {
        return life;
    }

    @Override
    public String sql(String statement) {
        return texts.of(statement);
    }

    @Override
    public String clock() {
        return clock;
    }

    @Override
    public InTransaction inTransaction() {
        return new H2InTransaction(this, queries, changes);
    }
}
