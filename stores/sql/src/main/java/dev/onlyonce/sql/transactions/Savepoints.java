package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import org.jspecify.annotations.Nullable;

/** Savepoints in a caller's transaction: what fails behind one leaves what the caller did before as it was. For this module only. */
public final class Savepoints {
    private Savepoints() {}

    /** Sets one; throws {@link IllegalArgumentException} if the connection is in auto-commit mode. */
    public static Savepoint set(Connection connection) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalArgumentException(
                        "the connection is in auto-commit mode: there is no transaction to execute in");
            }
            return connection.setSavepoint();
        } catch (SQLException e) {
            throw new StoreUnavailable("the transaction cannot be used", e);
        }
    }

    /** Releases one; null for a transaction without. */
    static void release(Connection connection, @Nullable Savepoint savepoint) throws SQLException {
        if (savepoint != null) {
            connection.releaseSavepoint(savepoint);
        }
    }

    /**
     * Goes back to one and releases it; false if that fails: then the whole transaction is lost. Null for a transaction without one, which
     * whoever has begun it rolls back.
     */
    public static boolean goBack(Connection connection, @Nullable Savepoint savepoint, Throwable cause) {
        if (savepoint == null) {
            return true;
        }
        try {
            connection.rollback(savepoint);
            connection.releaseSavepoint(savepoint);
            return true;
        } catch (SQLException e) {
            cause.addSuppressed(e);
            return false;
        }
    }

    /** For the caller if {@link #goBack} fails: what it did before is lost too, and what was thrown does not say so. */
    public static TransactionConflict lost(Throwable cause) {
        return new TransactionConflict("the database has rolled the whole transaction back", cause);
    }

    /** The exception for the caller. Nothing is committed yet, so whatever was lost with the connection has not happened. */
    public static RuntimeException exception(SqlFailure failure, SQLException e) {
        return failure.isCuredByRetry()
                ? new TransactionConflict("the database asks for this transaction to be rolled back and run again", e)
                : failure.exception(false, e);
    }
}
