package dev.onlyonce.payments.db;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Statements in one transaction, which belongs to the code that opened the connection.
 *
 * @param connection of one thread
 * @param dialect of its database
 */
public record Sql(Connection connection, Dialect dialect) {

    /** Reads a row. */
    @FunctionalInterface
    public interface Row<T> {
        /** Reads the row that the result set stands on. */
        T read(ResultSet row) throws SQLException;
    }

    /** Changes rows and says how many. */
    public int update(String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(sql, parameters)) {
            return statement.executeUpdate();
        }
    }

    /** Inserts a row unless one of its unique values is there already; says whether it did. */
    public boolean insertUnlessThere(String insert, @Nullable Object... parameters) throws SQLException {
        return update(dialect.insertUnlessThere(insert), parameters) == 1;
    }

    /** Reads all rows. */
    public <T> List<T> list(Row<T> row, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(sql, parameters);
                ResultSet rows = statement.executeQuery()) {
            List<T> all = new ArrayList<>();
            while (rows.next()) {
                all.add(row.read(rows));
            }
            return all;
        }
    }

    /** Reads the first row. */
    public <T> Optional<T> first(Row<T> row, String sql, @Nullable Object... parameters) throws SQLException {
        return list(row, sql, parameters).stream().findFirst();
    }

    private PreparedStatement prepare(String sql, @Nullable Object... parameters) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        return statement;
    }
}
