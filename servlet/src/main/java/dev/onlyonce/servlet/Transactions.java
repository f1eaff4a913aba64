package dev.onlyonce.servlet;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Operation;
import dev.onlyonce.store.StoreException;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.io.Serial;

/**
 * Executes handlers in one transaction of the database that holds the entries: claim, effects and response commit together,
 * so each takes effect exactly once. Thread-safe.
 */
public interface Transactions {

    /** Whether this operation is executed so. */
    boolean joins(Operation operation);

    /**
     * Claims, runs the handler and records its response, in one transaction that the handler's own work joins because it is
     * bound to the thread. Returns when it is committed, or when the key is somebody else's.
     *
     * @throws RolledBack if the handler answered and the transaction was rolled back all the same
     * @throws StoreException if the database cannot answer; unless it is {@link
     *     dev.onlyonce.store.StoreOutcomeUnknown}, nothing happened
     */
    Outcome<byte[]> execute(Operation operation, Key key, Fingerprint fingerprint, Handler handler)
            throws IOException, ServletException;

    /** What runs in the transaction. */
    interface Handler {
        /**
         * Handles the request.
         *
         * @return its response, encoded; to be recorded
         * @throws RolledBack if the response says that nothing is to remain
         */
        byte[] run() throws IOException, ServletException;
    }

    /** The handler answered, and its effects were undone. */
    final class RolledBack extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        /** It was rolled back. */
        public RolledBack() {
            super("the transaction was rolled back", null, false, false);
        }
    }
}
