package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An insert that meets an entry locks it until the transaction ends, whatever becomes of the insert, and so would hold up
 * its owner. Therefore we look first, without a lock, and insert only where we see nothing. The insert still decides.
 */
final class MySqlInTransaction implements InTransaction {
    private final MySqlQueries queries;
    private final MySqlChanges changes;
    private final LifeChanges life;

    MySqlInTransaction(MySqlQueries queries, MySqlChanges changes, LifeChanges life) {
        this.life = life;
        this.queries = queries;
        this.changes = changes;
    }

    /** What stands there uncommitted, and not committed. MariaDB's insert can do without waiting. */
    @Override
    public boolean isBeingMade(Connection connection, EntryId id) throws SQLException {
        if (connection.getMetaData().getDatabaseProductName().contains("MariaDB")) {
            return false;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
        }
        return read(connection, MySqlStatements.FIND, id).isPresent()
                && read(connection, MySqlStatements.FIND, id).isEmpty();
    }

    @Override
    public boolean readsUncommitted(Connection connection) throws SQLException {
        return connection.getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED;
    }

    @Override
    public Optional<Integer> insert(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        if (read(connection, MySqlStatements.FIND, claim.id()).isPresent()) {
            return Optional.empty();
        }
        return claim(
                connection,
                claim,
                bounds,
                (c, claims, wait) -> changes.written(c, List.of(), claims, wait).claimed());
    }

    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        return claim(connection, claim, bounds, (c, claims, wait) -> life.claim(c, claims, !wait.skips()));
    }

    @FunctionalInterface
    private interface WaitingClaim {
        Map<EntryId, Integer> claim(Connection connection, List<ClaimRequest> claims, MySqlQueries.Wait wait)
                throws SQLException;
    }

    private Optional<Integer> claim(Connection connection, ClaimRequest claim, Bounds bounds, WaitingClaim claiming)
            throws SQLException {
        // Whole seconds. The statement waits for one lock, perhaps for two.
        int seconds = Math.toIntExact(bounds.waitMax().toSeconds());
        MySqlQueries.Wait wait = new MySqlQueries.Wait(seconds == 0, seconds * 2 + 3);
        try (Statement statement = connection.createStatement()) {
            LockWaits before = replaceLockWaits(statement, seconds);
            try {
                return Optional.ofNullable(
                        claiming.claim(connection, List.of(claim), wait).get(claim.id()));
            } finally {
                before.set(statement);
            }
        }
    }

    /** How long a session waits for locks, in seconds: on rows, and on tables. */
    private record LockWaits(long rows, long tables) {
        void set(Statement statement) throws SQLException {
            statement.execute(
                    "SET SESSION innodb_lock_wait_timeout = " + rows + ", SESSION lock_wait_timeout = " + tables);
        }
    }

    /** Returns what they were. Not to wait at all is MariaDB's; MySQL waits a second at least. */
    private static LockWaits replaceLockWaits(Statement statement, int seconds) throws SQLException {
        LockWaits before;
        long least;
        try (ResultSet row = statement.executeQuery(
                "SELECT @@SESSION.innodb_lock_wait_timeout, @@SESSION.lock_wait_timeout, VERSION()")) {
            row.next();
            before = new LockWaits(row.getLong(1), row.getLong(2));
            least = row.getString(3).contains("MariaDB") ? 0 : 1;
        }
        long tables = Math.max(1, Math.min(seconds, MySqlQueries.LOCK_WAIT_SECONDS));
        new LockWaits(Math.max(least, seconds), tables).set(statement);
        return before;
    }

    /** What the transaction's snapshot does not show, a locking read does. */
    @Override
    public Optional<Entry> find(Connection connection, EntryId id) throws SQLException {
        Optional<Entry> seen = read(connection, MySqlStatements.FIND, id);
        return seen.isPresent() ? seen : read(connection, MySqlStatements.FIND + "\nFOR UPDATE", id);
    }

    private Optional<Entry> read(Connection connection, String sql, EntryId id) throws SQLException {
        List<Entry> found = new ArrayList<>();
        List<Binding> row = List.of(RowParameters.of(MySqlQueries.COLUMNS, id));
        queries.query(connection, sql, row, r -> found.add(StoredEntry.read(r, MySqlQueries.COLUMNS)));
        return found.stream().findFirst();
    }

    @Override
    public Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException {
        Map<EntryId, SettleResult.Settled> ended = new HashMap<>();
        if (!settlements.isEmpty()) {
            ended.putAll(changes.written(connection, settlements, List.of(), MySqlQueries.WAIT)
                    .settled());
        }
        if (!resolutions.isEmpty()) {
            ended.putAll(life.resolve(connection, resolutions));
        }
        return ended;
    }

    @Override
    public Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException {
        return Optional.ofNullable(
                end(connection, List.of(settlement), List.of()).get(settlement.id()));
    }
}
