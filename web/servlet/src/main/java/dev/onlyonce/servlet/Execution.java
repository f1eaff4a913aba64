package dev.onlyonce.servlet;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Operation;
import dev.onlyonce.store.StoreException;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.Serial;

/**
 * Executes the handlers of some operations in another way than the leased one: in one transaction with their entries, in steps,
 * or queued. Thread-safe.
 */
public interface Execution {

    /** Whether this operation is executed here; others are leased. */
    boolean executes(Operation operation);

    /**
     * Claims the key and runs the handler on the calling thread, unless the key has an outcome already. Returns when the outcome
     * is durable.
     *
     * @return {@link Outcome.Executed} to send the handler's own response, any other outcome to send the response that was
     *     recorded or what the profile says
     * @throws RolledBack if the handler answered and its effects were undone
     * @throws Released if the handler answered and nothing is recorded
     * @throws StoreException if the database cannot answer; unless it is {@link
     *     dev.onlyonce.store.StoreOutcomeUnknown}, nothing happened that a retry does not find
     */
    Outcome<byte[]> execute(Call call, Handler handler) throws IOException, ServletException;

    /**
     * What to execute.
     *
     * @param request what the handler gets; its attributes carry what the handler and the execution tell each other
     */
    record Call(Operation operation, Key key, Fingerprint fingerprint, HttpServletRequest request) {}

    /** The handler of a request. */
    interface Handler {
        /**
         * Handles the request.
         *
         * @param newKey whether the key is new: an attempt that resumes does not count as a new key
         * @return its response, encoded; to be recorded
         * @throws RolledBack if the profile does not store a response with this status
         */
        byte[] run(boolean newKey) throws IOException, ServletException;
    }

    /** The handler answered, and its effects were undone. A refusal that the profile stores is recorded afterwards. */
    final class RolledBack extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        /** It was rolled back. */
        public RolledBack() {
            super("the transaction was rolled back", null, false, false);
        }
    }

    /** The handler answered, and its key can be used again: the answer is sent, and not recorded. */
    final class Released extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        /** It was released. */
        public Released() {
            super("the key was released", null, false, false);
        }
    }
}
