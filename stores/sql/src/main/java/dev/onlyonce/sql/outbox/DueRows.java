package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.entries.ArrayParameters;
import dev.onlyonce.sql.internal.entries.Columns;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Takes rows that are due, and keeps lines in order. Nothing here begins or ends a transaction.
 *
 * <ol>
 *   <li>Of each topic, rows that are due are locked, in the order of their times, and no more of them than are wanted. Only those are read
 *       whole whose payloads fit into what a node may have in memory.
 *   <li>Of those with an order key, one more statement tells which are not the first in their line. It sees whatever was committed
 *       before the rows were locked, so an earlier row that it does not see has ended, or was accepted by a transaction that
 *       ran at the same time. A row whose entry has ended makes no call, and does not wait.
 *   <li>The first ones are taken. The others are put off, so that a long line costs nothing while it waits.
 *   <li>When a row has ended, and its end is committed, the first one left in its line is made due. If that gets lost with its
 *       node, the row is due again anyway after at most twice the time that it has waited already.
 * </ol>
 */
final class DueRows {
    /** Behind a dead letter a row is looked at this often: many rows may stand there. */
    static final Duration WAIT_MAX = Duration.ofMinutes(10);

    /** The planner would scan a table that was small when it looked. */
    private static final String POSTGRES_BY_INDEX = "SELECT set_config('enable_seqscan', 'off', true)";

    private final SqlDialect database;
    private final SqlDatabase kind;
    private final OutboxStatements statements;
    private final Columns columns;
    private final OutboxTable table;

    DueRows(SqlDialect database, OutboxTable table) {
        this.database = database;
        this.kind = database.kind();
        this.statements = OutboxStatements.of(kind);
        this.columns = Columns.of(kind);
        this.table = table;
    }

    /**
     * Rows that were taken.
     *
     * @param isFull whether as many were due as were wanted, those included that wait in line: there may be more
     */
    record Batch(List<StoredRow> rows, boolean isFull) {}

    /** A row that is due, as far as is known before its payload is read. */
    private record Due(long id, boolean inLine, long bytes, long now) {}

    /** Takes due rows of each topic that has room. */
    Batch take(Connection connection, Map<String, InHand.Room> rooms, UUID token, long leaseUs) throws SQLException {
        List<Long> ids = new ArrayList<>();
        boolean isFull = false;
        for (Map.Entry<String, InHand.Room> topic : rooms.entrySet()) {
            InHand.Room room = topic.getValue();
            List<Due> due = due(connection, topic.getKey(), room.rows());
            List<Due> first = withoutWaiting(connection, due, leaseUs);
            List<Due> fitting = fitting(first, room);
            boolean isCut = fitting.size() < first.size();
            isFull |= isCut ? !fitting.isEmpty() : due.size() == room.rows();
            fitting.forEach(row -> ids.add(row.id));
        }
        return new Batch(ids.isEmpty() ? List.of() : take(connection, ids, token, leaseUs), isFull);
    }

    private List<Due> due(Connection connection, String topic, int limit) throws SQLException {
        List<Due> due = new ArrayList<>();
        try (PreparedStatement statement = database.prepare(connection, table.limited(statements.due(), limit))) {
            columns.text(statement, 1, topic);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    boolean inLine = row.getObject(2) != null;
                    due.add(new Due(row.getLong(1), inLine, row.getLong(3), row.getLong(4)));
                }
            }
        }
        return due;
    }

    /** As many as there are bytes for. */
    private static List<Due> fitting(List<Due> rows, InHand.Room room) {
        long left = room.bytes();
        int fitting = 0;
        for (Due row : rows) {
            left -= row.bytes;
            if (left < 0 && !(fitting == 0 && room.isFirst())) {
                break;
            }
            fitting++;
        }
        return rows.subList(0, fitting);
    }

    private List<StoredRow> take(Connection connection, List<Long> ids, UUID token, long leaseUs) throws SQLException {
        List<StoredRow> rows;
        try (PreparedStatement statement = database.prepare(connection, table.forEach(statements.rows(), ids))) {
            table.bindIds(statement, 1, ids);
            rows = table.read(statement);
        }
        Map<Long, Integer> places = new HashMap<>();
        ids.forEach(id -> places.put(id, places.size()));
        rows.sort(Comparator.comparing(stored -> places.get(stored.row().id())));
        long takenAt = rows.get(0).takenAt();
        try (PreparedStatement statement = database.prepare(connection, table.forEach(statements.take(), ids))) {
            columns.token(statement, 1, token);
            statement.setLong(2, takenAt + leaseUs);
            statement.setLong(3, takenAt);
            table.bindIds(statement, 4, ids);
            statement.executeUpdate();
        }
        return rows;
    }

    /** Puts off the rows that are not the first in their line, and returns the others. */
    private List<Due> withoutWaiting(Connection connection, List<Due> due, long leaseUs) throws SQLException {
        List<Long> ordered = due.stream().filter(Due::inLine).map(Due::id).toList();
        if (ordered.isEmpty()) {
            return due;
        }
        Set<Long> waiting = new HashSet<>(notFirst(connection, ordered));
        if (waiting.isEmpty()) {
            return due;
        }
        List<Long> ids = List.copyOf(waiting);
        try (PreparedStatement statement = database.prepare(connection, table.forEach(statements.waitInLine(), ids))) {
            long now = due.get(0).now;
            statement.setLong(1, now);
            statement.setLong(2, now);
            statement.setLong(3, leaseUs);
            statement.setLong(4, Math.max(leaseUs, StoredEntry.micros(WAIT_MAX)));
            table.bindIds(statement, 5, ids);
            statement.executeUpdate();
        }
        return due.stream().filter(row -> !waiting.contains(row.id)).toList();
    }

    private List<Long> notFirst(Connection connection, List<Long> ids) throws SQLException {
        byIndex(connection);
        try (PreparedStatement statement = database.prepare(connection, table.forEach(statements.notFirst(), ids))) {
            table.bindIds(statement, 1, ids);
            return numbers(statement);
        }
    }

    /** Makes the first row of each line due. */
    int next(Connection connection, List<DeliveryOrder> lines) throws SQLException {
        List<Long> ids = firstInLine(connection, lines);
        if (ids.isEmpty()) {
            return 0;
        }
        try (PreparedStatement statement = database.prepare(connection, table.forEach(statements.next(), ids))) {
            table.bindIds(statement, 1, ids);
            return statement.executeUpdate();
        }
    }

    private List<Long> firstInLine(Connection connection, List<DeliveryOrder> lines) throws SQLException {
        byIndex(connection);
        List<Long> first = new ArrayList<>();
        try (PreparedStatement statement = database.prepare(connection, database.sql(statements.firstInLine()))) {
            if (kind == SqlDatabase.POSTGRESQL) {
                new ArrayParameters<>(lines)
                        .texts(DeliveryOrder::tenant)
                        .texts(DeliveryOrder::topic)
                        .texts(DeliveryOrder::orderKey)
                        .bind(statement, 1);
                return numbers(statement);
            }
            for (DeliveryOrder line : lines) {
                columns.text(statement, 1, line.tenant());
                columns.text(statement, 2, line.topic());
                columns.text(statement, 3, line.orderKey());
                first.addAll(numbers(statement));
            }
        }
        return first;
    }

    private static List<Long> numbers(PreparedStatement statement) throws SQLException {
        List<Long> numbers = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                long number = row.getLong(1);
                if (!row.wasNull()) {
                    numbers.add(number);
                }
            }
        }
        return numbers;
    }

    private void byIndex(Connection connection) throws SQLException {
        if (kind == SqlDatabase.POSTGRESQL) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(POSTGRES_BY_INDEX);
            }
        }
    }
}
