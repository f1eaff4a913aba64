package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.sql.Connection;
import java.sql.SQLException;

/** Where a journal gets its connections. */
interface Transactions {
    /** What is done with a connection. */
    interface Work<T> {
        T with(Connection connection) throws SQLException;
    }

    /** Does the work in a transaction of its own, which is durable on return. */
    <T> T run(Work<T> work) throws SQLException;

    /** What to tell when that failed. */
    JournalException trouble(SQLException failure);

    /** Closes what was opened for the journal. */
    void close();
}
