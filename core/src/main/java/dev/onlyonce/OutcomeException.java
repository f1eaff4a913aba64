package dev.onlyonce;

import java.io.Serial;

/**
 * There is no value to return: somebody else is executing the operation, the key was used for another request, the outcome is
 * unknown, the operation failed for good, or its result is not stored any more. {@link #outcome()} says which.
 */
public final class OutcomeException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient Outcome<?> outcome;

    /** For an outcome without a value. */
    public OutcomeException(String message, Outcome<?> outcome) {
        super(message);
        this.outcome = outcome;
    }

    /** Why there is no value: anything but {@link Outcome.Executed} and {@link Outcome.Replayed}. */
    public Outcome<?> outcome() {
        return outcome;
    }
}
