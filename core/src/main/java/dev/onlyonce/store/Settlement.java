package dev.onlyonce.store;

import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Ends a claim.
 *
 * @param id which entry
 * @param token of the claim
 * @param to {@link State#COMPLETED}, {@link State#FAILED}, {@link State#RETRYABLE} or {@link State#UNKNOWN}
 * @param result what to record; only for COMPLETED and FAILED. Not copied: do not modify it
 * @param reason for the audit, e.g. the exception that made the outcome unknown; shortened if it is long
 */
public record Settlement(EntryId id, UUID token, State to, byte @Nullable [] result, String reason) {

    /** Checks that a claim can be ended so. */
    public Settlement {
        reason = AuditText.why(reason);
        if (!State.PROCESSING.canBecome(to)) {
            throw new IllegalArgumentException("a claim cannot be settled as " + to);
        }
        if (result != null && !to.isAnswered()) {
            throw new IllegalArgumentException("a result cannot be recorded for " + to);
        }
    }

    /** For callers of other modules, for whose checks of nulls an array is never absent. */
    public static Settlement of(EntryId id, UUID token, State to, Optional<byte[]> result, String reason) {
        return new Settlement(id, token, to, result.orElse(null), reason);
    }
}
