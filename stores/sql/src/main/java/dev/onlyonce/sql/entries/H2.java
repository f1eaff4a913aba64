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
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
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
public final class H2 implements Database {
    /**
     * How a transaction begins: JDBC's way, not by a statement. A client in H2's mixed mode (AUTO_SERVER) that believes to be in
     * auto-commit mode reconnects silently and sends its last statement again, without the transaction around it.
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
    private final H2Queries queries;
    private final Preparation preparation;

    /** Runs before entries are made in a transaction of the application. */
    @FunctionalInterface
    public interface Preparation {
        void run(Connection transaction) throws SQLException;
    }

    /**
     * The statements.
     *
     * @param clock for tests: another clock than the machine's
     * @param audit whether an ordinary life's record outlives its entry
     * @param home the schema of the tables, quoted: every connection reaches the tables there, whatever its schema
     * @param preparation before an entry is made in a transaction of the application
     */
    public H2(Optional<String> clock, AuditLevel audit, Optional<String> home, Preparation preparation) {
        this.preparation = preparation;
        this.clock = clock.orElse(H2Statements.CLOCK);
        this.texts = new StatementTexts(H2Statements.CLOCK, this.clock, StatementTexts.inSchema(home));
        this.queries = new H2Queries(texts);
        this.changes = new H2Changes(queries, audit);
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
    public Map<EntryId, Integer> keep(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.kept(c, claims));
    }

    @Override
    public Map<EntryId, Integer> take(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.taken(c, claims, H2Queries.SKIP));
    }

    @Override
    public Map<EntryId, Integer> replace(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.replaced(c, claims, H2Queries.SKIP));
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.renewed(c, renewals));
    }

    @Override
    public Chunk chunk(Connection connection, long after, int rows) throws SQLException {
        return queries.all(connection, H2Statements.CHUNK, Binding.longs(after, rows), StoredEntry::chunk)
                .get(0);
    }

    @Override
    public List<Lapsed> lapsed(Connection connection, long after, long upTo, int limit) throws SQLException {
        return queries.all(
                connection,
                H2Statements.LAPSED,
                Binding.longs(after, upTo, limit),
                row -> StoredEntry.lapsed(row, H2Queries.COLUMNS));
    }

    @Override
    public Set<EntryId> end(Connection connection, List<Lapsed> lapsed) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.ended(c, lapsed));
    }

    @Override
    public Purged purge(Connection connection, int limit) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> purged(c, limit));
    }

    private Purged purged(Connection c, int limit) throws SQLException {
        List<Due> due = queries.all(c, H2Statements.DUE, Binding.longs(limit), Due::read);
        List<AuditRow.Subject> ending = new ArrayList<>();
        for (Due row : due) {
            Binding id = H2Queries.of(row.before.subject().id());
            if (row.gone) {
                queries.change(c, H2Statements.DELETE, id);
            } else if (row.expired) {
                queries.change(c, H2Statements.TOMBSTONE, id);
            } else {
                queries.change(c, H2Statements.PUT_OFF, id.then(Binding.longs(row.before.now())));
            }
            if (row.gone || row.expired) {
                ending.add(row.before.subject());
            }
        }
        changes.auditEnded(c, ending);
        return new Purged(due.size(), ending.size());
    }

    /** A row whose time has come, locked. */
    private record Due(H2Changes.Before before, boolean gone, boolean expired) {
        static Due read(ResultSet row) throws SQLException {
            H2Changes.Before before = H2Changes.Before.read(row);
            long purgeAt = row.getLong(12);
            boolean gone = !row.wasNull() && purgeAt <= before.now();
            long expiresAt = row.getLong(13);
            boolean over = !row.wasNull() && expiresAt <= before.now();
            return new Due(before, gone, over && before.subject().state().isAnswered());
        }
    }

    @Override
    public Map<EntryId, SettleResult.Settled> resolve(Connection connection, List<Resolution> resolutions)
            throws SQLException {
        return H2LockTimeout.run(
                connection, WAIT_MS, bounded -> Transaction.run(bounded, BEGIN, c -> changes.resolved(c, resolutions)));
    }

    @Override
    public Optional<Entry> evict(Connection connection, EntryId id, String who, String why) throws SQLException {
        return H2LockTimeout.run(
                connection, WAIT_MS, bounded -> Transaction.run(bounded, BEGIN, c -> evicted(c, id, who, why)));
    }

    private Optional<Entry> evicted(Connection c, EntryId id, String who, String why) throws SQLException {
        Optional<AuditRow.Evicted> evicted = queries.one(
                c, H2Statements.LOCK_ONE, H2Queries.of(id), row -> AuditRow.Evicted.read(row, H2Queries.COLUMNS));
        if (evicted.isPresent()) {
            queries.change(c, H2Statements.DELETE, H2Queries.of(id));
            changes.audit(c, AuditRow.evicted(evicted.get(), who, why));
        }
        return evicted.map(AuditRow.Evicted::entry);
    }

    @Override
    public List<Entry> list(Connection connection, EntryQuery query) throws SQLException {
        EntryListing listing = new EntryListing(query, H2Queries.COLUMNS);
        return queries.all(connection, listing.sql(), listing, H2Queries::entry);
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
        return new H2InTransaction(queries, changes, preparation);
    }
}
