package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.sql.connections.Transaction;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
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
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * SQLite 3.35 and newer. There is no network to save round trips on, so a batch is one short statement for each row, all
 * in one transaction. It begins by taking the write lock: a transaction that takes it later may be refused because another
 * process wrote in between.
 */
public final class Sqlite implements Database {
    public static final List<String> BEGIN = List.of("BEGIN IMMEDIATE");

    static final Columns COLUMNS = Columns.TEXT;

    private final String clock;
    private final AuditLevel level;
    private final StatementTexts texts;

    /**
     * The statements.
     *
     * @param clock for tests: another clock than the machine's
     * @param audit whether an ordinary life's record outlives its entry
     */
    public Sqlite(Optional<String> clock, AuditLevel audit) {
        this.clock = clock.orElse(SqliteStatements.CLOCK);
        this.level = audit;
        this.texts = new StatementTexts(SqliteStatements.CLOCK, this.clock, statement -> statement);
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
        audit(
                c,
                settlements,
                s -> ended.get(s.id()),
                (s, e) -> e.subject.isOwnRecord()
                        ? List.of()
                        : List.of(AuditRow.settled(e.subject, s, e.settled.settledAt())));
        return new Written(settled(ended), claims.isEmpty() ? Map.of() : attempts(c, SqliteStatements.INSERT, claims));
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

    @Override
    public Map<EntryId, Integer> keep(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> attempts(c, SqliteStatements.KEEP, claims));
    }

    @Override
    public Map<EntryId, Integer> take(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> taken(c, claims));
    }

    /** As {@link #take}, in a transaction that is open and has the write lock. */
    Map<EntryId, Integer> taken(Connection c, List<ClaimRequest> claims) throws SQLException {
        Map<EntryId, Before> before = before(c, claims, ClaimRequest::id);
        Map<EntryId, Integer> taken = attempts(c, SqliteStatements.TAKE, claims);
        audit(
                c,
                claims,
                a -> taken.containsKey(a.id()) ? before.get(a.id()) : null,
                (a, b) -> List.of(AuditRow.taken(b.subject, a, b.now)));
        return taken;
    }

    @Override
    public Map<EntryId, Integer> replace(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> replaced(c, claims));
    }

    /** As {@link #replace}, in a transaction that is open and has the write lock. */
    Map<EntryId, Integer> replaced(Connection c, List<ClaimRequest> claims) throws SQLException {
        Map<EntryId, Before> before = before(c, claims, ClaimRequest::id);
        Map<EntryId, Integer> replaced = attempts(c, SqliteStatements.REPLACE, claims);
        audit(
                c,
                claims,
                a -> replaced.containsKey(a.id()) ? before.get(a.id()) : null,
                (a, b) -> AuditRow.replaced(b.subject, a, b.now, level));
        return replaced;
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
    public Chunk chunk(Connection connection, long after, int rows) throws SQLException {
        return query(connection, SqliteStatements.CHUNK, Binding.longs(after, rows), StoredEntry::chunk)
                .get(0);
    }

    @Override
    public List<Lapsed> lapsed(Connection connection, long after, long upTo, int limit) throws SQLException {
        return query(
                connection,
                SqliteStatements.LAPSED,
                Binding.longs(after, upTo, limit),
                row -> StoredEntry.lapsed(row, COLUMNS));
    }

    @Override
    public Set<EntryId> end(Connection connection, List<Lapsed> lapsed) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            Map<EntryId, Before> before = before(c, lapsed, Lapsed::id);
            Set<EntryId> ended = each(
                            c,
                            SqliteStatements.END,
                            lapsed,
                            Lapsed::id,
                            l -> RowParameters.of(COLUMNS, l),
                            row -> row.getInt(1))
                    .keySet();
            audit(
                    c,
                    lapsed,
                    l -> ended.contains(l.id()) ? before.get(l.id()) : null,
                    (l, b) -> List.of(AuditRow.swept(b.subject, l, b.now)));
            return ended;
        });
    }

    @Override
    public Purged purge(Connection connection, int limit) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<Due> due = query(c, SqliteStatements.DUE, Binding.longs(limit), Due::read);
            audit(
                    c,
                    due,
                    row -> row.gone || row.expired ? row.subject : null,
                    (row, s) -> AuditRow.ended(List.of(s), level));
            for (Due row : due) {
                if (row.gone) {
                    query(c, SqliteStatements.DELETE, Binding.longs(row.rowid), deleted -> true);
                } else {
                    query(c, SqliteStatements.PUT_OFF, Binding.longs(row.rowid, row.expired ? 1 : 0), kept -> true);
                }
            }
            long removed = due.stream().filter(row -> row.gone || row.expired).count();
            return new Purged(due.size(), Math.toIntExact(removed));
        });
    }

    @Override
    public Map<EntryId, SettleResult.Settled> resolve(Connection connection, List<Resolution> resolutions)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> resolved(c, resolutions));
    }

    /** As {@link #resolve}, in a transaction that is open. */
    Map<EntryId, SettleResult.Settled> resolved(Connection c, List<Resolution> resolutions) throws SQLException {
        Map<EntryId, Ended> ended = each(
                c,
                SqliteStatements.RESOLVE,
                resolutions,
                Resolution::id,
                r -> RowParameters.of(COLUMNS, r),
                Ended::read);
        audit(
                c,
                resolutions,
                r -> ended.get(r.id()),
                (r, e) -> List.of(AuditRow.resolved(e.subject, r, e.settled.settledAt())));
        return settled(ended);
    }

    @Override
    public Optional<Entry> evict(Connection connection, EntryId id, String who, String why) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<AuditRow.Evicted> evicted = query(
                    c,
                    SqliteStatements.EVICT,
                    RowParameters.of(COLUMNS, id),
                    row -> AuditRow.Evicted.read(row, COLUMNS));
            audit(c, evicted, one -> one, (one, same) -> AuditRow.evicted(one, who, why));
            return evicted.stream().map(AuditRow.Evicted::entry).findFirst();
        });
    }

    @Override
    public List<Entry> list(Connection connection, EntryQuery query) throws SQLException {
        EntryListing listing = new EntryListing(query, COLUMNS);
        return query(connection, listing.sql(), listing, Sqlite::entry);
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

    private static Map<EntryId, SettleResult.Settled> settled(Map<EntryId, Ended> ended) {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        ended.forEach((id, end) -> settled.put(id, end.settled));
        return settled;
    }

    /** An entry that is about to change. */
    private record Before(long now, AuditRow.Subject subject) {
        static Before read(ResultSet row) throws SQLException {
            return new Before(row.getLong(1), AuditRow.Subject.read(row, 2, COLUMNS));
        }
    }

    private <T> Map<EntryId, Before> before(Connection connection, List<T> items, Function<T, EntryId> id)
            throws SQLException {
        return each(
                connection,
                SqliteStatements.BEFORE,
                items,
                id,
                item -> RowParameters.of(COLUMNS, id.apply(item)),
                Before::read);
    }

    /** A row whose time has come. */
    private record Due(long rowid, boolean gone, boolean expired, AuditRow.Subject subject) {
        static Due read(ResultSet row) throws SQLException {
            AuditRow.Subject subject = AuditRow.Subject.read(row, 4, COLUMNS);
            return new Due(row.getLong(1), row.getBoolean(2), row.getBoolean(3), subject);
        }
    }

    /** Writes what has become of those items that were changed. */
    private <T, B> void audit(
            Connection connection,
            List<T> items,
            Function<T, @Nullable B> changed,
            BiFunction<T, B, List<AuditRow>> rows)
            throws SQLException {
        List<AuditRow> audit = new ArrayList<>();
        for (T item : items) {
            B change = changed.apply(item);
            if (change != null) {
                audit.addAll(rows.apply(item, change));
            }
        }
        if (audit.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = prepared(connection, AuditRow.INSERT)) {
            for (AuditRow row : audit) {
                RowParameters.of(COLUMNS, row).bind(statement, 1);
                statement.executeUpdate();
            }
        }
    }

    @FunctionalInterface
    interface RowReader<R> {
        R read(ResultSet row) throws SQLException;
    }

    <R> List<R> query(Connection connection, String sql, Binding parameters, RowReader<R> reader) throws SQLException {
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
