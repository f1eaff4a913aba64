package dev.onlyonce;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by an action that can prove that it had no effect: the connection was refused, validation failed before the
 * call, the transaction was rolled back. The next retry executes again. When in doubt, do not throw this.
 */
public class NotExecuted extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With the proof. */
    public NotExecuted(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** With the proof. */
    public NotExecuted(String message) {
        super(message);
    }
}
