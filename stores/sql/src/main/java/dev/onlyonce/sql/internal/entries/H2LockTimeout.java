package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How long a session of H2 waits for locks. It neither begins nor ends a transaction, and a rollback does not undo it. */
public final class H2LockTimeout {
    private static final Logger log = LoggerFactory.getLogger(H2LockTimeout.class);

    private H2LockTimeout() {}

    /** Runs work that waits no longer than this for a lock; the session is as it was afterwards. */
    public static <T> T run(Connection connection, long millis, Connections.Work<T> work) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            long before = read(statement);
            if (before == millis) {
                return work.run(connection);
            }
            statement.execute("SET LOCK_TIMEOUT " + millis);
            try {
                return work.run(connection);
            } finally {
                // It is the session's, and the connection goes back to the application's pool.
                restore(statement, before);
            }
        }
    }

    private static long read(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT LOCK_TIMEOUT()")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void restore(Statement statement, long millis) {
        try {
            statement.execute("SET LOCK_TIMEOUT " + millis);
        } catch (SQLException e) {
            log.debug("A lost connection keeps its settings", e);
        }
    }
}
