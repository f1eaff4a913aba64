package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.IdleBound;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.Standby;
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
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * PostgreSQL 14 and newer.
 *
 * <p>{@link PostgresStatements#SETTINGS} goes before a statement in the same string: the driver sends both in
 * one round trip, and in auto-commit mode they are one transaction, so the settings end with it and the caller's
 * connection is as it was. Some settings of the driver (preferQueryMode=simple, prepareThreshold=-1) take such a string
 * apart, or cannot send it ({@link ScriptProbe}): then each statement goes by itself, in a transaction that is begun and ended around
 * them. For a caller that is alone see {@link PostgresAlone}.
 */
public final class Postgres implements SqlDialect {
    private static final Set<String> ONE =
            Set.of(PostgresStatements.INSERT_ONE, PostgresStatements.SETTLE_ONE, PostgresStatements.FIND_ONE);

    private static final Part HARDLY_WAIT = new Part(PostgresStatements.HARDLY_WAIT, Binding.NONE, row -> {});

    private static final List<String> BEGIN = List.of("BEGIN");

    private static final String BOUNDS = PostgresStatements.WAIT + ",\n" + IdleBound.OWN;
    /** How a transaction begins that waits for locks no longer than an operator would. */
    public static final List<String> BEGIN_BOUNDED = List.of("BEGIN", BOUNDS);

    private final String clock;
    private final boolean scripted;
    private final StatementTexts texts;
    private final Map<List<String>, String> scripts = new ConcurrentHashMap<>();
    private final PostgresAlone alone = new PostgresAlone(this);
    private final LifeChanges changes;

    /** With another clock than the server's: for tests only. */
    public Postgres(Optional<String> clock) {
        this(clock, AuditLevel.ALL, true, Optional.empty());
    }

    /**
     * With a driver that is known.
     *
     * @param audit whether an ordinary life's record outlives its entry
     * @param scripted whether it sends several statements together, see {@link ScriptProbe}
     * @param home the schema of the tables, see {@link #home}: every connection reaches the tables there, whatever its
     *     search_path
     */
    public Postgres(Optional<String> clock, AuditLevel audit, boolean scripted, Optional<String> home) {
        this.clock = clock.orElse(PostgresStatements.CLOCK);
        this.scripted = scripted;
        UnaryOperator<String> names = StatementTexts.inSchema(home);
        this.texts = new StatementTexts(
                PostgresStatements.CLOCK,
                this.clock,
                text -> names.apply(clock.map(told -> text.replace(PostgresStatements.STATEMENT_CLOCK, told))
                        .orElse(text)));
        this.changes = new LifeChanges(this, audit);
    }

    /** The schema whose entries a connection reaches, quoted; empty if there are none. */
    public static Optional<String> home(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(PostgresStatements.HOME)) {
            return row.next() ? Optional.of(row.getString(1)) : Optional.empty();
        }
    }

    @Override
    public SqlDatabase kind() {
        return SqlDatabase.POSTGRESQL;
    }

    @Override
    public void awaitStandby(Connection connection) throws SQLException {
        Standby.await(connection);
    }

    @Override
    public String lasting() {
        return " AND " + Standby.SYNCHRONOUS + " IS NOT NULL";
    }

    @Override
    public <T> T bounded(Connection connection, Connections.Work<T> work) throws SQLException {
        if (connection.getAutoCommit()) {
            return Transaction.run(connection, BEGIN_BOUNDED, work);
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(BOUNDS);
        }
        return work.run(connection);
    }

    @Override
    public Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        Map<EntryId, Integer> claimed = new HashMap<>();
        if (settlements.size() + claims.size() == 1 && alone.isPossible(connection)) {
            if (settlements.isEmpty()) {
                alone.claim(connection, claims.get(0), claimed);
                return new Written(settled, claimed);
            }
            alone.settle(connection, settlements.get(0), settled);
            if (!settled.isEmpty()) {
                return new Written(settled, claimed);
            }
        }
        List<Part> parts = new ArrayList<>(2);
        if (!settlements.isEmpty()) {
            parts.add(settle(settlements, row -> settled.put(id(row), StoredEntry.settled(row, 4))));
        }
        if (!claims.isEmpty()) {
            parts.add(insert(claims, row -> claimed.put(id(row), row.getInt(4))));
        }
        run(connection, parts.toArray(Part[]::new));
        return new Written(settled, claimed);
    }

    @Override
    public Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Entry> found = new HashMap<>();
        run(connection, find(ids, row -> {
            Entry entry = StoredEntry.read(row, Columns.NATIVE);
            found.put(entry.id(), entry);
        }));
        return found;
    }

    @Override
    public Map<EntryId, SettleResult.Settled> settleUnlocked(Connection connection, List<Settlement> settlements)
            throws SQLException {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        RowEffect each = row -> settled.put(id(row), StoredEntry.settled(row, 4));
        Binding arrays = ArrayParameters.ofSettlements(settlements);
        run(connection, HARDLY_WAIT, new Part(PostgresStatements.SETTLE_UNLOCKED, arrays, each));
        return settled;
    }

    /** An entry that is not committed shows itself by nothing but the wait for it. */
    @Override
    public Inserted insert(Connection connection, List<ClaimRequest> claims) throws SQLException {
        Map<EntryId, Integer> claimed = new HashMap<>();
        run(connection, HARDLY_WAIT, insert(claims, row -> claimed.put(id(row), row.getInt(4))));
        return new Inserted(claimed, Set.of());
    }

    static Part insert(List<ClaimRequest> claims, RowEffect each) {
        return claims.size() == 1
                ? new Part(PostgresStatements.INSERT_ONE, RowParameters.of(Columns.NATIVE, claims.get(0)), each)
                : new Part(PostgresStatements.INSERT, ArrayParameters.of(claims), each);
    }

    static Part settle(List<Settlement> settlements, RowEffect each) {
        return settlements.size() == 1
                ? new Part(PostgresStatements.SETTLE_ONE, RowParameters.of(Columns.NATIVE, settlements.get(0)), each)
                : new Part(PostgresStatements.SETTLE, ArrayParameters.ofSettlements(settlements), each);
    }

    static Part find(List<EntryId> ids, RowEffect each) {
        return ids.size() == 1
                ? new Part(PostgresStatements.FIND_ONE, RowParameters.of(Columns.NATIVE, ids.get(0)), each)
                : new Part(PostgresStatements.FIND, new ArrayParameters<>(ids).ids(id -> id), each);
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        Set<EntryId> renewed = new HashSet<>();
        ArrayParameters<Renewal> arrays = new ArrayParameters<>(renewals)
                .ids(Renewal::id)
                .tokens(Renewal::token)
                .longs(r -> StoredEntry.micros(r.lease()));
        run(connection, HARDLY_WAIT, new Part(PostgresStatements.RENEW, arrays, row -> renewed.add(id(row))));
        return renewed;
    }

    @Override
    public <T> T changing(Connection connection, LifeChanges.Waiting waiting, Connections.Work<T> work)
            throws SQLException {
        List<String> settings = new ArrayList<>(List.of(PostgresStatements.SETTINGS + ",\n" + IdleBound.OWN));
        switch (waiting) {
            case HARDLY -> settings.add(PostgresStatements.HARDLY_WAIT);
            case BRIEFLY -> {}
            case PATIENTLY -> settings.add(PostgresStatements.WAIT);
        }
        if (connection.getAutoCommit()) {
            settings.add(0, "BEGIN");
            return Transaction.run(connection, scripted ? List.of(String.join(";\n", settings)) : settings, work);
        }
        try (Statement statement = connection.createStatement()) {
            for (String setting : settings) {
                statement.execute(setting);
            }
        }
        return work.run(connection);
    }

    @Override
    public <R> List<R> query(Connection connection, String sql, Binding parameters, RowReader<R> reader)
            throws SQLException {
        List<R> rows = new ArrayList<>();
        run(connection, new Part(sql, parameters, row -> rows.add(reader.read(row))));
        return rows;
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
        return new PostgresInTransaction(this);
    }

    private static EntryId id(ResultSet row) throws SQLException {
        return StoredEntry.id(row, 1, Columns.NATIVE);
    }

    /** Sends the settings and the parts in one round trip; without an open transaction they are one. */
    private void run(Connection connection, Part... parts) throws SQLException {
        boolean one = ONE.containsAll(Stream.of(parts).map(Part::sql).toList());
        List<Part> all = new ArrayList<>(parts.length + 1);
        String settings = one ? PostgresStatements.SETTINGS_ONE : PostgresStatements.SETTINGS;
        all.add(new Part(scripted ? settings : settings + ",\n" + IdleBound.OWN, Binding.NONE, row -> {}));
        all.addAll(List.of(parts));
        if (scripted || !connection.getAutoCommit()) {
            runAll(connection, all);
        } else {
            Transaction.run(connection, BEGIN, c -> {
                runAll(c, all);
                return true;
            });
        }
    }

    /** Sends all parts, in one round trip if the driver can do so. */
    void runAll(Connection connection, List<Part> parts) throws SQLException {
        if (scripted) {
            runScript(connection, parts);
        } else {
            for (Part part : parts) {
                runScript(connection, List.of(part));
            }
        }
    }

    private void runScript(Connection connection, List<Part> parts) throws SQLException {
        List<String> texts = new ArrayList<>(parts.size());
        for (Part part : parts) {
            texts.add(part.sql);
        }
        try (PreparedStatement statement = connection.prepareStatement(script(texts))) {
            int next = 1;
            for (Part part : parts) {
                next = part.binding.bind(statement, next);
            }
            statement.execute();
            Standby.check(statement.getWarnings());
            for (Part part : parts) {
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows != null && rows.next()) {
                        part.each.accept(rows);
                    }
                }
                statement.getMoreResults();
            }
        }
    }

    private String script(List<String> parts) {
        // A text that is always the same object finds its prepared statement without being read.
        return scripts.computeIfAbsent(parts, list -> sql(String.join(";\n", list)));
    }

    /** A statement, its parameters, and what to do with each row that it returns. */
    record Part(String sql, Binding binding, RowEffect each) {}

    @FunctionalInterface
    interface RowEffect {
        void accept(ResultSet row) throws SQLException;
    }
}
