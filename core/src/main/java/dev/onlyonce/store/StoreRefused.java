package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The store answers, but it must not be used: it would forget entries, has lost them, or is not the one that this node knows. Nothing was
 * changed. See {@link StoreGate}.
 */
public final class StoreRefused extends StoreUnavailable {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a message for the operator: what is wrong, and what to do. */
    public StoreRefused(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
