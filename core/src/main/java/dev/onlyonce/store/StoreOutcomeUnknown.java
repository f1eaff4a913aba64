package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The store may or may not have made the change; repeat the call with the same token to find out. */
public final class StoreOutcomeUnknown extends StoreException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a message for the operator. */
    public StoreOutcomeUnknown(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
