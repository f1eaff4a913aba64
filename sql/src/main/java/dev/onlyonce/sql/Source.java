package dev.onlyonce.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** Where connections come from. */
interface Source extends AutoCloseable {

    /** A connection in auto-commit mode, with bounds on how long it waits. */
    Taken take(boolean writing) throws SQLException;

    @Override
    void close();

    /** A connection in use. */
    interface Taken {
        Connection connection();

        /**
         * Gives it back as it was. Does not throw: the work's outcome stands.
         *
         * @param healthy whether the last work on it ended well
         */
        void give(boolean healthy);
    }
}
