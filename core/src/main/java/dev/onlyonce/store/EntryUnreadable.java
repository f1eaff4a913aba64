package dev.onlyonce.store;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The store has answered, but this entry cannot be read here: it was sealed with a key that is not configured, or a newer release wrote it.
 * Other entries are not concerned. The operation must not run.
 */
public final class EntryUnreadable extends StoreUnavailable {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a message for the operator. */
    public EntryUnreadable(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
