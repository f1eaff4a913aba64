package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.EntryId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Runs the statements of MySQL and MariaDB, each within a bound. */
final class MySqlQueries {
    static final Columns COLUMNS = Columns.BYTES;

    /**
     * Bounds statements on few rows, which are short unless somebody else holds a lock: on a row, a gap or the table. Sessions
     * would wait for 50 s, and for a table for a year; to set that for every call would cost two round trips.
     */
    static final int LOCK_WAIT_SECONDS = 2;
    /** Bounds a listing, which may read many rows. */
    private static final int LISTING_SECONDS = 5;
    /** One row's lock keeps a whole batch waiting. Drivers take whole seconds. */
    static final Wait BRIEFLY = new Wait(false, 1);

    static final Wait NOT = new Wait(true, 1);
    /** For what has nobody else waiting with it. */
    static final Wait WAIT = new Wait(false, LOCK_WAIT_SECONDS);

    private final StatementTexts texts;

    MySqlQueries(StatementTexts texts) {
        this.texts = texts;
    }

    /**
     * What to do about rows that somebody else has locked.
     *
     * @param skips whether reads that lock go around them; an insert cannot
     * @param seconds bounds a statement that may wait
     */
    record Wait(boolean skips, int seconds) {
        String in(String sql) {
            return skips ? sql : sql.replace(MySqlStatements.SKIP, "");
        }
    }

    @FunctionalInterface
    interface RowEffect {
        void accept(ResultSet row) throws SQLException;
    }

    Set<EntryId> ids(Connection connection, String sql, List<Binding> rows, Wait wait) throws SQLException {
        Set<EntryId> ids = new HashSet<>();
        query(connection, wait.in(sql), rows, rows.size(), wait.seconds, row -> ids.add(id(row)));
        return ids;
    }

    void query(Connection connection, String sql, List<Binding> rows, RowEffect reader) throws SQLException {
        query(connection, sql, rows, rows.size(), LOCK_WAIT_SECONDS, reader);
    }

    void list(Connection connection, String sql, Binding parameters, RowEffect reader) throws SQLException {
        query(connection, sql, List.of(parameters), 1, LISTING_SECONDS, reader);
    }

    void query(Connection connection, String sql, List<Binding> parameters, int rows, RowEffect reader)
            throws SQLException {
        query(connection, sql, parameters, rows, LOCK_WAIT_SECONDS, reader);
    }

    private void query(
            Connection connection, String sql, List<Binding> parameters, int rows, int seconds, RowEffect reader)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters, rows, seconds);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                reader.accept(row);
            }
        }
    }

    int change(Connection connection, String sql, List<Binding> rows) throws SQLException {
        return rows.isEmpty() ? 0 : change(connection, sql, rows, rows.size(), LOCK_WAIT_SECONDS);
    }

    int change(Connection connection, String sql, List<Binding> parameters, int rows, int seconds) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters, rows, seconds)) {
            return statement.executeUpdate();
        }
    }

    /**
     * What a statement changed.
     *
     * @param rows how many rows
     * @param lastInsertId what it gave to {@code LAST_INSERT_ID}; 0 if it changed nothing, or the driver does not tell
     */
    record Changed(int rows, long lastInsertId) {}

    /** Changes rows; the acknowledgement tells one number of its own. */
    Changed changeTelling(Connection connection, String sql, List<Binding> parameters, int rows, int seconds)
            throws SQLException {
        String text = EachRow.repeat(texts.of(sql), rows);
        try (PreparedStatement statement = connection.prepareStatement(text, Statement.RETURN_GENERATED_KEYS)) {
            statement.setQueryTimeout(seconds);
            bind(statement, parameters);
            int changed = statement.executeUpdate();
            try (ResultSet told = statement.getGeneratedKeys()) {
                return new Changed(changed, told.next() ? told.getLong(1) : 0);
            } catch (SQLException e) {
                // The rows are changed, whatever the driver or a wrapper of it does not know.
                return new Changed(changed, 0);
            }
        }
    }

    private static void bind(PreparedStatement statement, List<Binding> parameters) throws SQLException {
        int next = 1;
        for (Binding binding : parameters) {
            next = binding.bind(statement, next);
        }
    }

    private PreparedStatement prepare(
            Connection connection, String sql, List<Binding> parameters, int rows, int seconds) throws SQLException {
        PreparedStatement statement = prepare(connection, EachRow.repeat(texts.of(sql), rows), seconds);
        try {
            bind(statement, parameters);
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    /** The driver ends the statement in time. */
    static PreparedStatement prepare(Connection connection, String sql, int seconds) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        try {
            statement.setQueryTimeout(seconds);
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    static EntryId id(ResultSet row) throws SQLException {
        return StoredEntry.id(row, 1, COLUMNS);
    }
}
