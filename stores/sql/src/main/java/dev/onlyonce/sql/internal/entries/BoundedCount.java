package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.OutboxCounts;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Bounded counts, from indexes alone. */
public final class BoundedCount {
    private static final String ENTRIES = """
        SELECT COUNT(*) FROM (SELECT 1 FROM onlyonce_entry WHERE tenant = ? LIMIT ?) bounded\
        """;

    /** Rows that are no entries have no tenant. */
    private static final String ALL_ENTRIES = """
        SELECT COUNT(*) FROM (SELECT 1 FROM onlyonce_entry WHERE tenant > ? LIMIT ?) bounded\
        """;

    private static final String DEAD_LETTERS = """
        SELECT COUNT(*) FROM (SELECT 1 FROM onlyonce_outbox WHERE dead = 1 LIMIT ?) bounded\
        """;

    private static final String WAITING = """
        SELECT COUNT(*) FROM (SELECT 1 FROM onlyonce_outbox WHERE dead = 0 LIMIT ?) bounded\
        """;

    /** Ids grow, so the first row is the oldest; the primary key finds it. */
    private static final String OLDEST_WAITING = """
        SELECT {now} - entry_created_at FROM onlyonce_outbox WHERE dead = 0 ORDER BY id LIMIT 1\
        """;

    private BoundedCount() {}

    /** The entries of a tenant, or of all of them, at most {@code max}. */
    public static int entries(Connection connection, SqlDialect database, @Nullable String tenant, int max)
            throws SQLException {
        try (PreparedStatement statement =
                database.prepare(connection, database.sql(tenant == null ? ALL_ENTRIES : ENTRIES))) {
            Columns.of(database.kind()).text(statement, 1, tenant == null ? "" : tenant);
            statement.setInt(2, max);
            return number(statement);
        }
    }

    /** The dead letters of all tenants, at most {@code max}. */
    public static int deadLetters(Connection connection, SqlDialect database, int max) throws SQLException {
        return bounded(connection, database, DEAD_LETTERS, max);
    }

    /** The outbox rows of all tenants that are to be delivered or being delivered, at most {@code max}. */
    public static int waiting(Connection connection, SqlDialect database, int max) throws SQLException {
        return bounded(connection, database, WAITING, max);
    }

    /** What the outbox has to do; each count is at most {@code max}. */
    public static OutboxCounts outbox(Connection connection, SqlDialect database, int max) throws SQLException {
        return new OutboxCounts(
                waiting(connection, database, max),
                deadLetters(connection, database, max),
                oldestWaiting(connection, database));
    }

    private static Duration oldestWaiting(Connection connection, SqlDialect database) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(OLDEST_WAITING));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Duration.of(Math.max(0, row.getLong(1)), ChronoUnit.MICROS) : Duration.ZERO;
        }
    }

    private static int bounded(Connection connection, SqlDialect database, String sql, int max) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(sql))) {
            statement.setInt(1, max);
            return number(statement);
        }
    }

    private static int number(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }
}
