package dev.onlyonce.payments.db;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * The payments' database. Thread-safe.
 *
 * @param source where connections come from
 * @param dialect of all of them
 */
public record Database(DataSource source, Dialect dialect) {

    /** Any number that nobody else uses. */
    private static final long CREATE_LOCK = 0x7061796d656e7473L;

    /** What is done in a transaction. */
    @FunctionalInterface
    public interface Work<T extends @Nullable Object> {
        /** Does it; the transaction is rolled back if it throws. */
        T in(Sql sql) throws SQLException;
    }

    /** The database cannot be reached, or does not work as it should: the caller should try again later. */
    public static final class Unavailable extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** Because of this. */
        public Unavailable(Exception cause) {
            super(cause);
        }
    }

    /** The statements of this database on a connection whose transaction belongs to the caller. */
    public Sql on(Connection connection) {
        return new Sql(connection, dialect);
    }

    /** Works in the Spring transaction that this thread is in. Throws {@link Unavailable}, or what the work throws. */
    public <T extends @Nullable Object> T inCurrentTransaction(Work<T> work) {
        Connection connection = DataSourceUtils.getConnection(source);
        try {
            return work.in(on(connection));
        } catch (SQLException e) {
            throw new Unavailable(e);
        } finally {
            DataSourceUtils.releaseConnection(connection, source);
        }
    }

    /** Commits what the work does, or nothing of it. Throws {@link Unavailable}, or what the work throws. */
    public <T extends @Nullable Object> T transaction(Work<T> work) {
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            boolean done = false;
            try {
                T result = work.in(on(connection));
                connection.commit();
                done = true;
                return result;
            } finally {
                if (!done) {
                    connection.rollback();
                }
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw new Unavailable(e);
        }
    }

    /** Creates the tables that are not there; safe on every node at once. */
    public void createTables() {
        String script = "/schema/payments/" + (dialect == Dialect.MYSQL ? "mysql" : "standard") + ".sql";
        try (InputStream in = Database.class.getResourceAsStream(script);
                Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            if (in == null) {
                throw new IllegalStateException(script + " is missing");
            }
            connection.setAutoCommit(false);
            if (dialect == Dialect.POSTGRESQL) {
                // Of two nodes that create the same table at once one would fail, "if not exists" or not.
                statement.execute("SELECT pg_advisory_xact_lock(" + CREATE_LOCK + ")");
            }
            for (String sql : new String(in.readAllBytes(), StandardCharsets.UTF_8).split(";\\s*\n")) {
                if (!sql.isBlank()) {
                    statement.execute(sql);
                }
            }
            connection.commit();
            connection.setAutoCommit(true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException e) {
            throw new Unavailable(e);
        }
    }
}
