package dev.onlyonce.spring;

import dev.onlyonce.Outcome;
import java.io.Serial;

/**
 * An {@link Idempotent} method of a bean did not run, and there is no recorded value to return: somebody else is running it,
 * the key was used for other arguments, its outcome is unknown, or its result was not stored.
 */
public final class NotRepeated extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient Outcome<?> outcome;

    NotRepeated(String operation, Outcome<?> outcome) {
        super(operation + " did not run: " + outcome.getClass().getSimpleName());
        this.outcome = outcome;
    }

    /** Why: anything but {@link Outcome.Executed} and {@link Outcome.Replayed}. */
    public Outcome<?> outcome() {
        return outcome;
    }
}
