package dev.onlyonce.spring;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The configuration cannot work. Shown at start-up with what to change. */
final class InvalidSettings extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String action;

    InvalidSettings(String description, String action, @Nullable Throwable cause) {
        super(description, cause);
        this.action = action;
    }

    /** What to change. */
    String action() {
        return action;
    }
}
