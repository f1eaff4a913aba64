package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.MySqlCheck;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.Transaction;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * MySQL 8 and MariaDB 10.6 and newer, in what both understand. Neither tells which rows a statement over many has changed,
 * so in the same transaction the rows are read back: whose token stands there has the entry.
 *
 * <p>In a statement, the part between {@code each} and the comment that ends it is there once for every row of the batch;
 * that comment is what comes between them. {@code STRAIGHT_JOIN} makes the batch drive the look-ups, whatever the
 * statistics say, and {@code FORCE INDEX} keeps MySQL from reading a small table as a whole instead: it would lock, and wait
 * for, rows of others. {@code CAST} tells MySQL that a parameter is bytes: a statement that the server prepares would take it for
 * characters, and find no token.
 */
public final class MySql implements SqlDialect {
    private static final int DUPLICATE_KEY = 1062;

    private static final List<String> BEGIN = List.of("START TRANSACTION");

    /** Scans that lock rows must not lock the gaps between them: that would hold up new claims. */
    public static final List<String> BEGIN_SCAN =
            List.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION");

    /** Shows what others have not committed yet. Nothing is decided by it but not to wait. */
    private static final List<String> BEGIN_LOOK =
            List.of("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "START TRANSACTION READ ONLY");

    private static final String TABLE_WAIT = "SET @onlyonce_table_wait = @@SESSION.lock_wait_timeout,"
            + " SESSION lock_wait_timeout = " + MySqlQueries.LOCK_WAIT_SECONDS;

    private static final String TABLE_WAIT_BEFORE = "SET SESSION lock_wait_timeout = @onlyonce_table_wait";

    /** The largest packet that a server takes by default, in MySQL 8. */
    private static final int PACKET_BYTES = 64 << 20;
    /** What a statement needs beside results. */
    private static final int STATEMENT_BYTES = 128 << 10;
    /** Results of more bytes go in several statements. */
    private static final int RESULTS_BYTES_MAX = 4 << 20;

    private final String clock;
    private final int resultBytesMax;
    private final StatementTexts texts;
    private final MySqlQueries queries;
    private final MySqlChanges changes;
    private final LifeChanges life;
    /** Whether the last batch of claims had one for an entry that exists. */
    private volatile boolean duplicates;

    /**
     * The statements.
     *
     * @param clock for tests: another clock than the server's
     * @param audit whether an ordinary life's record outlives its entry
     */
    public MySql(Optional<String> clock, AuditLevel audit) {
        this(clock, audit, PACKET_BYTES);
    }

    /**
     * The statements.
     *
     * @param clock for tests: another clock than the server's
     * @param audit whether an ordinary life's record outlives its entry
     * @param packetBytes the largest packet that the server takes
     */
    public MySql(Optional<String> clock, AuditLevel audit, int packetBytes) {
        this.clock = clock.orElse(MySqlStatements.CLOCK);
        this.resultBytesMax = resultBytesMax(packetBytes);
        this.texts = new StatementTexts(MySqlStatements.CLOCK, this.clock, statement -> statement);
        this.queries = new MySqlQueries(texts);
        this.life = new LifeChanges(this, audit);
        this.changes = new MySqlChanges(queries, life, Math.min(resultBytesMax, RESULTS_BYTES_MAX));
    }

    @Override
    public SqlDatabase kind() {
        return SqlDatabase.MYSQL;
    }

    @Override
    public int resultBytesMax() {
        return resultBytesMax;
    }

    @Override
    public int resultBytesMax(Connection connection) throws SQLException {
        return resultBytesMax(MySqlCheck.packetBytes(connection));
    }

    /** MySQL's driver writes bytes as hexadecimal digits. */
    private static int resultBytesMax(int packetBytes) {
        return Math.max(0, packetBytes - STATEMENT_BYTES) / 2;
    }

    @Override
    public PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        return MySqlQueries.prepare(connection, sql, MySqlQueries.LOCK_WAIT_SECONDS);
    }

    @Override
    public <T> T bounded(Connection connection, Connections.Work<T> work) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(TABLE_WAIT);
            try {
                return work.run(connection);
            } finally {
                if (!connection.isClosed()) {
                    statement.execute(TABLE_WAIT_BEFORE);
                }
            }
        }
    }

    @Override
    public Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        if (settlements.isEmpty() && insertFresh(connection, claims)) {
            return new Written(
                    Map.of(),
                    claims.stream()
                            .collect(Collectors.toMap(ClaimRequest::id, c -> c.start() == State.PROCESSING ? 1 : 0)));
        }
        return claims.isEmpty()
                ? new Written(settle(connection, settlements), Map.of())
                : written(connection, settlements, claims);
    }

    private Map<EntryId, SettleResult.Settled> settle(Connection connection, List<Settlement> settlements)
            throws SQLException {
        Map<EntryId, SettleResult.Settled> settled = changes.settledOrdinary(connection, settlements);
        List<Settlement> rest =
                settlements.stream().filter(s -> !settled.containsKey(s.id())).toList();
        try {
            if (!rest.isEmpty()) {
                settled.putAll(written(connection, rest, List.of()).settled());
            }
            return settled;
        } catch (SQLException e) {
            if (rest.size() == settlements.size()) {
                throw e;
            }
            throw new StoreOutcomeUnknown("some of these settlements are recorded, the others perhaps not", e);
        }
    }

    private Written written(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.written(c, settlements, claims, MySqlQueries.BRIEFLY));
    }

    /** Fresh keys cost one round trip instead of four; false, and nothing is written, if there is an entry for one of them. */
    private boolean insertFresh(Connection connection, List<ClaimRequest> claims) throws SQLException {
        if (claims.size() > 1 && duplicates) {
            // The next batch is tried again; if duplicates are frequent, every second one is tried in vain at most.
            duplicates = false;
            return false;
        }
        List<Binding> rows = claims.stream()
                .map(c -> RowParameters.of(MySqlQueries.COLUMNS, c))
                .toList();
        try {
            queries.change(connection, MySqlStatements.INSERT_FRESH, rows, rows.size(), MySqlQueries.BRIEFLY.seconds());
            changes.remember(claims);
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == DUPLICATE_KEY) {
                duplicates = claims.size() > 1;
                return false;
            }
            throw e;
        }
    }

    @Override
    public Map<EntryId, SettleResult.Settled> settleUnlocked(Connection connection, List<Settlement> settlements)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> changes.written(c, settlements, List.of(), MySqlQueries.NOT))
                .settled();
    }

    @Override
    public Inserted insert(Connection connection, List<ClaimRequest> claims) throws SQLException {
        Set<EntryId> seen =
                seen(connection, claims.stream().map(ClaimRequest::id).toList());
        List<ClaimRequest> open =
                claims.stream().filter(c -> !seen.contains(c.id())).toList();
        // Never alone in auto-commit mode: a time-out must mean that nothing was written.
        return new Inserted(
                open.isEmpty() ? Map.of() : written(connection, List.of(), open).claimed(), seen);
    }

    /** Those entries that are there or that somebody is just making. */
    Set<EntryId> seen(Connection connection, List<EntryId> ids) throws SQLException {
        Set<EntryId> seen = new HashSet<>();
        List<Binding> rows = ids.stream()
                .map(id -> RowParameters.of(MySqlQueries.COLUMNS, id))
                .toList();
        return Transaction.run(connection, BEGIN_LOOK, c -> {
            queries.query(c, MySqlStatements.SEEN, rows, row -> seen.add(MySqlQueries.id(row)));
            return seen;
        });
    }

    @Override
    public Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Entry> found = new HashMap<>();
        List<Binding> rows = ids.stream()
                .map(id -> RowParameters.of(MySqlQueries.COLUMNS, id))
                .toList();
        queries.query(connection, MySqlStatements.FIND, rows, row -> {
            Entry entry = StoredEntry.read(row, MySqlQueries.COLUMNS);
            found.put(entry.id(), entry);
        });
        return found;
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<Binding> rows = renewals.stream()
                    .map(r -> RowParameters.owner(MySqlQueries.COLUMNS, r.id(), r.token()))
                    .toList();
            Set<EntryId> held = queries.ids(c, MySqlStatements.LOCK_HELD, rows, MySqlQueries.NOT);
            queries.change(
                    c,
                    MySqlStatements.RENEW,
                    renewals.stream()
                            .filter(r -> held.contains(r.id()))
                            .map(r -> RowParameters.of(MySqlQueries.COLUMNS, r))
                            .toList());
            return held;
        });
    }

    /** Locks must not lock the gaps between rows. */
    @Override
    public <T> T changing(Connection connection, LifeChanges.Waiting waiting, Connections.Work<T> work)
            throws SQLException {
        return connection.getAutoCommit() ? Transaction.run(connection, BEGIN_SCAN, work) : work.run(connection);
    }

    @Override
    public <R> List<R> query(Connection connection, String sql, Binding parameters, RowReader<R> reader)
            throws SQLException {
        return bounded(connection, c -> {
            List<R> rows = new ArrayList<>();
            queries.list(c, sql, parameters, row -> rows.add(reader.read(row)));
            return rows;
        });
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
        return new MySqlInTransaction(queries, changes, life);
    }
}
