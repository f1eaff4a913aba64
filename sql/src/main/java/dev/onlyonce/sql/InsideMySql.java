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
                (c, claims) -> mysql.written(c, List.of(), claims).claimed());
    }

    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Duration waitMax) throws SQLException {
        return claim(connection, claim, waitMax, mysql::taken);
    }

    @Override
    public Optional<Integer> replace(Connection connection, ClaimRequest claim, Duration waitMax) throws SQLException {
        return claim(connection, claim, waitMax, mysql::replaced);
    }

    private Optional<Integer> claim(Connection connection, ClaimRequest claim, Duration waitMax, Claiming claiming)
            throws SQLException {
        try (Statement statement = connection.createStatement()) {
            long before = lockWait(statement);
            // Whole seconds, and not none.
            setLockWait(statement, Math.max(1, waitMax.plusMillis(999).toSeconds()));
            try {
                return Optional.ofNullable(
                        claiming.claim(connection, List.of(claim)).get(claim.id()));
            } finally {
                setLockWait(statement, before);
            }
        }
    }

    private static long lockWait(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT @@SESSION.innodb_lock_wait_timeout")) {
            row.next();
            return row.getLong(1);
        }
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
            ended.putAll(mysql.written(connection, settlements, List.of()).settled());
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
