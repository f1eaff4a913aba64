package dev.onlyonce.sql;

import dev.onlyonce.sql.internal.entries.StoredEntry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/** A clock for tests: a row in a table, so that every node and every process sees the same one, and it stands still. */
public final class SqlClock {
    /** What a store is given instead of the database's clock. */
    public static final String SQL = "(SELECT micros FROM onlyonce_test_clock)";

    private static final long START = Duration.ofDays(20_000).toMillis() * 1000;

    private final DataSource dataSource;

    private SqlClock(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Starts the clock of a database anew. */
    public static SqlClock start(DataSource dataSource) {
        execute(
                dataSource,
                "DROP TABLE IF EXISTS onlyonce_test_clock",
                "CREATE TABLE onlyonce_test_clock (micros BIGINT NOT NULL)",
                "INSERT INTO onlyonce_test_clock (micros) VALUES (" + START + ")");
        return new SqlClock(dataSource);
    }

    /** A store that follows this clock; the tables must be there. */
    public static SqlStore.Builder store(DataSource dataSource) {
        return SqlStore.builder(dataSource).clock(SQL);
    }

    public void advance(Duration span) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("UPDATE onlyonce_test_clock SET micros = micros + ?")) {
            statement.setLong(1, StoredEntry.micros(span));
            statement.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs statements on a connection of their own. */
    public static void execute(DataSource dataSource, String... statements) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The single number that a query gives. */
    public static long number(DataSource dataSource, String query) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
