package dev.onlyonce.sql.internal.connections;

import java.sql.Connection;
import java.sql.SQLException;

/** Where connections come from. */
public interface Source extends AutoCloseable {

    /** A connection in auto-commit mode. */
    Borrowed borrow(Use use) throws SQLException;

    /** What a connection is wanted for. */
    enum Use {
        /** Statements of ours that change nothing. */
        READ,
        /** Statements of ours. */
        WRITE,
        /** A transaction in which the application does what it likes: not ours to bound. */
        TRANSACTION
    }

    @Override
    void close();

    /** A connection in use. */
    interface Borrowed {
        Connection connection();

        /**
         * Gives it back as it was. Does not throw: the work's outcome stands.
         *
         * @param healthy whether the last work on it ended well
         */
        void giveBack(boolean healthy);

        /** The server behind it takes no writes any more: it should not be lent again. Before {@link #giveBack}. */
        default void leave() {}
    }
}
