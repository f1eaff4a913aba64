package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Sends the statements of {@link ChangeTexts}, each as the database takes a batch. */
final class RowBatches {
    private final SqlDialect database;
    private final Columns columns;

    RowBatches(SqlDialect database) {
        this.database = database;
        this.columns = Columns.of(database.kind());
    }

    /** Writes rows; none: nothing is sent. */
    <T> void write(Connection c, String sql, BatchColumns<T> batch, List<T> rows) throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = prepare(c, sql, rows.size())) {
            if (isRowByRow()) {
                for (T row : rows) {
                    batch.row(columns, row).bind(statement, 1);
                    statement.executeUpdate();
                }
            } else {
                bind(statement, batch, rows);
                statement.executeUpdate();
            }
        }
    }

    /** Writes the result of an entry. */
    void writeResult(Connection c, Entry entry) throws SQLException {
        try (PreparedStatement statement = database.prepare(c, database.sql(ChangeTexts.RESULT))) {
            int next = RowParameters.result(entry.result()).bind(statement, 1);
            RowParameters.of(columns, entry.id()).bind(statement, next);
            statement.executeUpdate();
        }
    }

    /** Reads the rows of these entries. */
    <R> List<R> read(Connection c, String sql, List<EntryId> ids, RowReader<R> reader) throws SQLException {
        List<R> found = new ArrayList<>();
        try (PreparedStatement statement = prepare(c, sql, ids.size())) {
            if (isRowByRow()) {
                for (EntryId id : ids) {
                    ChangeTexts.IDS.row(columns, id).bind(statement, 1);
                    read(statement, reader, found);
                }
            } else {
                bind(statement, ChangeTexts.IDS, ids);
                read(statement, reader, found);
            }
        }
        return found;
    }

    /** Reads the first rows. */
    <R> List<R> due(Connection c, String sql, int limit, RowReader<R> reader) throws SQLException {
        List<R> found = new ArrayList<>();
        try (PreparedStatement statement = database.prepare(c, database.sql(sql))) {
            statement.setInt(1, limit);
            read(statement, reader, found);
        }
        return found;
    }

    private static <R> void read(PreparedStatement statement, RowReader<R> reader, List<R> found) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(reader.read(row));
            }
        }
    }

    private PreparedStatement prepare(Connection c, String sql, int rows) throws SQLException {
        String text = database.sql(sql);
        return database.prepare(c, database.kind() == SqlDatabase.MYSQL ? EachRow.repeat(text, rows) : text);
    }

    private boolean isRowByRow() {
        return database.kind() == SqlDatabase.SQLITE || database.kind() == SqlDatabase.H2;
    }

    private <T> void bind(PreparedStatement statement, BatchColumns<T> batch, List<T> rows) throws SQLException {
        if (database.kind() == SqlDatabase.POSTGRESQL) {
            batch.arrays(rows).bind(statement, 1);
            return;
        }
        int next = 1;
        for (T row : rows) {
            next = batch.row(columns, row).bind(statement, next);
        }
    }
}
