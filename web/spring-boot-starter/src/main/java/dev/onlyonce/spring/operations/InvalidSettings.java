package dev.onlyonce.spring.operations;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The configuration cannot work. Shown at start-up with what to change. */
public final class InvalidSettings extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String action;

    public InvalidSettings(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    /** What to change. */
    String action() {
        return action;
    }
}
