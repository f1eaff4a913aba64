package dev.onlyonce.messages;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A message that can never be applied: it goes to the dead letters at once. Decoders and handlers may throw it. */
public final class PoisonMessage extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final DeadLetterReason reason;

    /** Rejected by the application. */
    public PoisonMessage(String message) {
        this(DeadLetterReason.REJECTED, message, null);
    }

    /** For a reason. */
    public PoisonMessage(DeadLetterReason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** Why it cannot be applied. */
    public DeadLetterReason reason() {
        return reason;
    }
}
