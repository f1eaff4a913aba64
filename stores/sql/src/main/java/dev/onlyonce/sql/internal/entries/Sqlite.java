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
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * SQLite 3.35 and newer. There is no network to save round trips on, so a batch is one short statement for each row, all
 * in one transaction. It begins by taking the write lock: a transaction that takes it later may be refused because another
 * process wrote in between.
 */
public final class Sqlite implements SqlDialect {
    public static final List<String> BEGIN = List.of("BEGIN IMMEDIATE");

    static final Columns COLUMNS = Columns.TEXT;

    private final String clock;
    private final StatementTexts texts;
    private final LifeChanges changes;

    /**
     * The statements.
     *
     * @param clock for tests: another clock than the machine's
     * @param audit whether an ordinary life's record outlives its entry
     */
    public Sqlite(Optional<String> clock, AuditLevel audit) {
        this.clock = clock.orElse(SqliteStatements.CLOCK);
        this.texts = new StatementTexts(SqliteStatements.CLOCK, this.clock, statement -> statement);
        this.changes = new LifeChanges(this, audit);
    }

    @Override
    public SqlDatabase kind() {
        return SqlDatabase.SQLITE;
    }

    @Override
    public Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> written(c, settlements, claims));
    }

    /** As {@link #write}, in a transaction that is open. */
    Written written(Connection c, List<Settlement> settlements, List<ClaimRequest> claims) throws SQLException {
        Map<EntryId, Ended> ended = settlements.isEmpty()
                ? Map.of()
                : each(
                        c,
                        SqliteStatements.SETTLE,
                        settlements,
                        Settlement::id,
                        s -> RowParameters.of(COLUMNS, s),
                        Ended::read);
        List<AuditRow> audit = new ArrayList<>();
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        for (Settlement settlement : settlements) {
            Ended end = ended.get(settlement.id());
            if (end != null) {
                settled.put(settlement.id(), end.settled);
                if (!end.subject.isOwnRecord()) {
                    audit.add(AuditRow.settled(end.subject, settlement, end.settled.settledAt()));
                }
            }
        }
        changes.audit(c, audit);
        return new Written(settled, claims.isEmpty() ? Map.of() : attempts(c, SqliteStatements.INSERT, claims));
    }

    /** Nobody locks a row here. */
    @Override
    public Map<EntryId, SettleResult.Settled> settleUnlocked(Connection connection, List<Settlement> settlements)
            throws SQLException {
        return write(connection, settlements, List.of()).settled();
    }

    @Override
    public Inserted insert(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return new Inserted(write(connection, List.of(), claims).claimed(), Set.of());
    }

    @Override
    public Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException {
        return each(
                connection, SqliteStatements.FIND, ids, id -> id, id -> RowParameters.of(COLUMNS, id), Sqlite::entry);
    }

    private Map<EntryId, Integer> attempts(Connection connection, String sql, List<ClaimRequest> claims)
            throws SQLException {
        return each(connection, sql, claims, ClaimRequest::id, c -> RowParameters.of(COLUMNS, c), row -> row.getInt(1));
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        return Transaction.run(
                        connection,
                        BEGIN,
                        c -> each(
                                c,
                                SqliteStatements.RENEW,
                                renewals,
                                Renewal::id,
                                r -> RowParameters.of(COLUMNS, r),
                                row -> row.getInt(1)))
                .keySet();
    }

    @Override
    public <T> T changing(Connection connection, LifeChanges.Waiting waiting, Connections.Work<T> work)
            throws SQLException {
        return connection.getAutoCommit() ? Transaction.run(connection, BEGIN, work) : work.run(connection);
    }

    @Override
    public LifeChanges changes() {
        return changes;
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
        return new SqliteInTransaction(this);
    }

    static Entry entry(ResultSet row) throws SQLException {
        return StoredEntry.read(row, COLUMNS);
    }

    /** An entry that was settled or resolved. */
    private record Ended(SettleResult.Settled settled, AuditRow.Subject subject) {
        static Ended read(ResultSet row) throws SQLException {
            return new Ended(StoredEntry.settled(row, 1), AuditRow.Subject.read(row, 3, COLUMNS));
        }
    }

    @Override
    public <R> List<R> query(Connection connection, String sql, Binding parameters, RowReader<R> reader)
            throws SQLException {
        try (PreparedStatement statement = prepared(connection, sql)) {
            List<R> rows = new ArrayList<>();
            parameters.bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows.add(reader.read(row));
                }
            }
            return rows;
        }
    }

    /** Runs a statement for each item; answers those for which it gave a row. */
    private <T, R> Map<EntryId, R> each(
            Connection connection,
            String sql,
            List<T> items,
            Function<T, EntryId> id,
            Function<T, Binding> parameters,
            RowReader<R> reader)
            throws SQLException {
        Map<EntryId, R> answers = new HashMap<>();
        try (PreparedStatement statement = prepared(connection, sql)) {
            for (T item : items) {
                parameters.apply(item).bind(statement, 1);
                try (ResultSet row = statement.executeQuery()) {
                    if (row.next()) {
                        answers.put(id.apply(item), reader.read(row));
                    }
                }
            }
        }
        return answers;
    }

    private PreparedStatement prepared(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql(sql));
    }
}
