package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The store cannot answer now. Nothing was changed, so the operation must not run: fail closed. */
public sealed class StoreUnavailable extends StoreException permits EntryUnreadable, StoreRefused {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a message for the operator. */
    public StoreUnavailable(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
