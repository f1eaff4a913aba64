package dev.onlyonce.sql;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An insert that meets an entry locks it until the transaction ends, whatever becomes of the insert, and so would hold up
 * its owner. Therefore we look first, without a lock, and insert only where we see nothing. The insert still decides.
 */
final class InsideMySql implements Inside {
    /** Bounds a statement that settles. */
    private static final int END_SECONDS = 5;

    private final MySql mysql;

    InsideMySql(MySql mysql) {
        this.mysql = mysql;
    }

    @Override
    public Optional<Integer> insert(Connection connection, ClaimRequest claim, Duration waitMax) throws SQLException {
        if (read(connection, MySqlStatements.FIND, claim.id()).isPresent()) {
            return Optional.empty();
        }
        return claim(
                connection,
                claim,
                waitMax,
                (c, claims, wait) -> mysql.written(c, List.of(), claims, wait.waiting, wait.statementSeconds)
                        .claimed());
    }

    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Duration waitMax) throws SQLException {
        return claim(connection, claim, waitMax, (c, claims, wait) -> mysql.taken(c, claims, wait.waiting));
    }

    @Override
    public Optional<Integer> replace(Connection connection, ClaimRequest claim, Duration waitMax) throws SQLException {
        return claim(connection, claim, waitMax, (c, claims, wait) -> mysql.replaced(c, claims, wait.waiting));
    }

    /**
     * How long to wait for locks.
     *
     * @param seconds whole ones only. Zero is MariaDB's; MySQL waits a second at least
     * @param waiting a locking read can do without waiting on both
     * @param statementSeconds bounds the statement: it waits for one lock, perhaps for two
     */
    private record Wait(long seconds, MySql.Waiting waiting, int statementSeconds) {
        static Wait of(Duration waitMax) {
            long seconds = waitMax.toSeconds();
            return new Wait(
                    seconds, seconds == 0 ? MySql.Waiting.SKIP : MySql.Waiting.WAIT, Math.toIntExact(seconds * 2 + 3));
        }
    }

    @FunctionalInterface
    private interface WaitingClaim {
        Map<EntryId, Integer> claim(Connection connection, List<ClaimRequest> claims, Wait wait) throws SQLException;
    }

    private Optional<Integer> claim(Connection connection, ClaimRequest claim, Duration waitMax, WaitingClaim claiming)
            throws SQLException {
        Wait wait = Wait.of(waitMax);
        try (Statement statement = connection.createStatement()) {
            long before = setLockWait(statement, wait);
            try {
                return Optional.ofNullable(
                        claiming.claim(connection, List.of(claim), wait).get(claim.id()));
            } finally {
                setLockWait(statement, before);
            }
        }
    }

    /** Returns what it was. */
    private static long setLockWait(Statement statement, Wait wait) throws SQLException {
        long before;
        long least;
        try (ResultSet row = statement.executeQuery("SELECT @@SESSION.innodb_lock_wait_timeout, VERSION()")) {
            row.next();
            before = row.getLong(1);
            least = row.getString(2).contains("MariaDB") ? 0 : 1;
        }
        setLockWait(statement, Math.max(least, wait.seconds));
        return before;
    }

    private static void setLockWait(Statement statement, long seconds) throws SQLException {
        statement.execute("SET SESSION innodb_lock_wait_timeout = " + seconds);
    }

    /** What the transaction's snapshot does not show, a locking read does. */
    @Override
    public Optional<Entry> find(Connection connection, EntryId id) throws SQLException {
        Optional<Entry> seen = read(connection, MySqlStatements.FIND, id);
        return seen.isPresent() ? seen : read(connection, MySqlStatements.FIND + "\nFOR UPDATE", id);
    }

    private Optional<Entry> read(Connection connection, String sql, EntryId id) throws SQLException {
        List<Entry> found = new ArrayList<>();
        List<Binding> row = List.of(RowParameters.of(MySql.COLUMNS, id));
        mysql.query(connection, sql, row, r -> found.add(StoredEntry.read(r, MySql.COLUMNS)));
        return found.stream().findFirst();
    }

    @Override
    public Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException {
        Map<EntryId, SettleResult.Settled> ended = new HashMap<>();
        if (!settlements.isEmpty()) {
            ended.putAll(mysql.written(connection, settlements, List.of(), MySql.Waiting.WAIT, END_SECONDS)
                    .settled());
        }
        if (!resolutions.isEmpty()) {
            ended.putAll(mysql.resolved(connection, resolutions));
        }
        return ended;
    }

    @Override
    public Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException {
        return Optional.ofNullable(
                end(connection, List.of(settlement), List.of()).get(settlement.id()));
    }
}
