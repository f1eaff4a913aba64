package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The store will never take this: a value it cannot hold, a missing table. Nothing was changed. */
public final class StoreRejected extends StoreException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a message for the operator. */
    public StoreRejected(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
