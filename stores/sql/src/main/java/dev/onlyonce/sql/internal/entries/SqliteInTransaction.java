package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * SQLite has one writer: whoever claims has the write lock until the transaction ends, and who comes next waits for it,
 * whatever the key. So a wait says nothing about the key, and it is not the policy that bounds it from below.
 */
final class SqliteInTransaction implements InTransaction {
    /** How long to wait for other transactions at least. */
    static final Duration WRITE_WAIT = Duration.ofSeconds(5);

    private final Sqlite sqlite;

    SqliteInTransaction(Sqlite sqlite) {
        this.sqlite = sqlite;
    }

    @Override
    public Optional<Integer> insert(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        return claim(
                connection,
                claim,
                bounds,
                (c, claims) -> sqlite.written(c, List.of(), claims).claimed());
    }

    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        return claim(connection, claim, bounds, (c, claims) -> sqlite.changes().claim(c, claims, true));
    }

    /** A statement that claims. Returns the attempts of the entries that it claimed. */
    @FunctionalInterface
    private interface Claiming {
        Map<EntryId, Integer> claim(Connection connection, List<ClaimRequest> claims) throws SQLException;
    }

    private Optional<Integer> claim(Connection connection, ClaimRequest claim, Bounds bounds, Claiming claiming)
            throws SQLException {
        int before = sqlite.query(connection, "PRAGMA busy_timeout", Binding.NONE, row -> row.getInt(1))
                .get(0);
        long wait = Math.max(bounds.waitMax().toMillis(), WRITE_WAIT.toMillis());
        setBusyTimeout(connection, (int) wait);
        long begun = System.nanoTime();
        try {
            return Optional.ofNullable(
                    claiming.claim(connection, List.of(claim)).get(claim.id()));
        } catch (SQLException e) {
            throw waited(e, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun) >= wait / 2);
        } finally {
            setBusyTimeout(connection, before);
        }
    }

    /**
     * A transaction that has read is not made to wait: somebody else writes or has written since, and it must begin again.
     * The driver shows one code for that and for a wait in vain.
     */
    private static SQLException waited(SQLException e, boolean waited) {
        boolean stale = e.getErrorCode() == SqlFailure.SQLITE_BUSY && !waited;
        return stale ? new SQLException(e.getMessage(), e.getSQLState(), SqlFailure.SQLITE_BUSY_SNAPSHOT, e) : e;
    }

    private static void setBusyTimeout(Connection connection, int millis) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = " + millis);
        }
    }

    @Override
    public Optional<Entry> find(Connection connection, EntryId id) throws SQLException {
        return sqlite
                .query(connection, SqliteStatements.FIND, RowParameters.of(Sqlite.COLUMNS, id), Sqlite::entry)
                .stream()
                .findFirst();
    }

    @Override
    public Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException {
        Map<EntryId, SettleResult.Settled> ended = new HashMap<>();
        if (!settlements.isEmpty()) {
            ended.putAll(sqlite.written(connection, settlements, List.of()).settled());
        }
        if (!resolutions.isEmpty()) {
            ended.putAll(sqlite.changes().resolve(connection, resolutions));
        }
        return ended;
    }

    @Override
    public Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException {
        return Optional.ofNullable(
                end(connection, List.of(settlement), List.of()).get(settlement.id()));
    }
}
