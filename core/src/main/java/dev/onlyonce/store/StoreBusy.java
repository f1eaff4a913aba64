package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else holds a row of the call (its lock, or the right to write) for longer than the store waits. Nothing was
 * changed, and the store as a whole is well: a row on its own may go through. A store that knows which row answers for
 * that row alone instead, see {@link Store}.
 */
public final class StoreBusy extends StoreException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a message for the operator. */
    public StoreBusy(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
