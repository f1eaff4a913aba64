package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Transactions on connections of a pool, which is the application's.
 *
 * @param isAutoCommit whether its connections commit by themselves, as those of pools usually do
 */
record PoolTransactions(DataSource pool, boolean isAutoCommit) implements Transactions {
    @Override
    public <T> T run(Work<T> work) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            if (connection.getAutoCommit() != isAutoCommit) {
                throw new JournalException("The DataSource gave the journal the connection of a running transaction,"
                        + " which would be committed here. Give the journal the pool behind it; to write in your"
                        + " transaction, use begin(Connection, JournaledCall)");
            }
            T result = work.with(connection);
            commit(connection);
            return result;
        }
    }

    @Override
    public JournalException trouble(SQLException failure) {
        return failed(failure);
    }

    @Override
    public void close() {}

    static JournalException failed(SQLException failure) {
        return new JournalException("The journal in the database cannot be used: " + failure.getMessage(), failure);
    }

    /** A pool may hand out connections that do not commit by themselves. */
    static void commit(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.commit();
        }
    }

    static void rollback(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.rollback();
        }
    }
}
