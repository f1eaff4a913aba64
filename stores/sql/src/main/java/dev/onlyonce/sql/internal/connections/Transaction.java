package dev.onlyonce.sql.internal.connections;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * A transaction on a connection in auto-commit mode, begun and ended by statements: it needs fewer round trips than
 * switching the mode, and a database can be told how to begin.
 */
public final class Transaction {
    private Transaction() {}

    /**
     * Runs the statements that begin it, the work, and a commit; or rolls back. Without statements, as on H2, it switches the mode
     * after all.
     */
    public static <T> T run(Connection connection, List<String> begin, Connections.Work<T> work) throws SQLException {
        if (begin.isEmpty()) {
            return Connections.inTransaction(SqlDatabase.H2, connection, work);
        }
        try (Statement statement = connection.createStatement()) {
            for (String sql : begin) {
                statement.execute(sql);
            }
            try {
                T answer = work.run(connection);
                statement.execute("COMMIT");
                Standby.check(statement.getWarnings());
                return answer;
            } catch (Throwable e) {
                // An Error too: the connection goes back to its pool, and must not take an open transaction along.
                rollBack(statement, e);
                throw e;
            }
        }
    }

    private static void rollBack(Statement statement, Throwable cause) {
        try {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            // The connection is broken, or the database has rolled back already.
            cause.addSuppressed(e);
        }
    }
}
