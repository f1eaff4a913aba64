package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The store did not do its part. The subclass says what is known about the outcome. */
public abstract sealed class StoreException extends RuntimeException
        permits StoreUnavailable, StoreBusy, StoreRejected, StoreOutcomeUnknown {
    @Serial
    private static final long serialVersionUID = 1;

    StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
