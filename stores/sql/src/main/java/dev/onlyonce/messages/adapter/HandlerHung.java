package dev.onlyonce.messages.adapter;

import java.io.Serial;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A handler was interrupted because it did not return in time. */
final class HandlerHung extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    HandlerHung(Duration max, @Nullable Throwable cause) {
        super("its handler did not return within " + max, cause);
    }
}
