package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.SQLException;

/** Runs work on a connection, within bounds, and says what an error means. */
public final class Connections implements AutoCloseable {
    /**
     * Deadlocks are rare because batches are sorted; a retry cures the few that remain. A lost prepared statement is
     * prepared again by the next try on the same connection.
     */
    private static final int TRIES_MAX = 5;

    private final Source source;
    private final SqlDatabase database;
    private volatile Runnable guard = () -> {};

    public Connections(Source source, SqlDatabase database) {
        this.source = source;
        this.database = database;
    }

    /** Something to do with a connection in auto-commit mode. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Runs this before each change, and before each connection for a transaction: it throws if the store must not be used. */
    public void guardBy(Runnable check) {
        guard = check;
    }

    /** What {@link #guardBy} was given, for what is written in a transaction of the application. */
    public void checkGuard() {
        guard.run();
    }

    /** Runs work that changes nothing. */
    public <T> T read(Work<T> work) {
        return run(false, work);
    }

    /** Runs work that is one transaction; again, if that is the cure for what it met. */
    public <T> T write(Work<T> work) {
        guard.run();
        return run(true, work);
    }

    /** As {@link #transaction}, in a store that must not be used otherwise. */
    public <T> T transactionAnyway(Work<T> work) {
        return run(true, connection -> inTransaction(database, connection, work));
    }

    /** As {@link #write}, in a transaction that the work's own code may look at: auto-commit is off. */
    public <T> T transaction(Work<T> work) {
        return write(connection -> inTransaction(database, connection, work));
    }

    static <T> T inTransaction(SqlDatabase kind, Connection connection, Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        try {
            T answer = work.run(connection);
            Standby.commit(kind, connection);
            return answer;
        } catch (Throwable e) {
            rollBack(connection, e);
            throw e;
        } finally {
            if (!connection.isClosed()) {
                connection.setAutoCommit(true);
            }
        }
    }

    private static void rollBack(Connection connection, Throwable cause) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    private <T> T run(boolean writing, Work<T> work) {
        for (int tries = 1; ; tries++) {
            try {
                return once(writing, work);
            } catch (SQLException e) {
                SqlFailure failure = SqlFailure.of(database, e);
                if (!failure.isCuredByRetry() || tries == TRIES_MAX) {
                    throw failure.exception(writing, e);
                }
            }
        }
    }

    private <T> T once(boolean writing, Work<T> work) throws SQLException {
        Source.Use use = writing ? Source.Use.WRITE : Source.Use.READ;
        Source.Borrowed borrowed = borrow(use);
        boolean done = false;
        try {
            T answer = work.run(borrowed.connection());
            done = true;
            return answer;
        } catch (SQLException e) {
            if (SqlFailure.isReadOnly(database, e)) {
                borrowed.leave();
            }
            throw e;
        } finally {
            borrowed.giveBack(done);
        }
    }

    /** A connection; throws {@link StoreException} if there is none. */
    public Source.Borrowed borrow(Source.Use use) {
        if (use == Source.Use.TRANSACTION) {
            guard.run();
        }
        try {
            return source.borrow(use);
        } catch (StoreException e) {
            throw e;
        } catch (SQLException | RuntimeException e) {
            throw new StoreUnavailable("no connection to the database", e);
        }
    }

    @Override
    public void close() {
        source.close();
    }
}
