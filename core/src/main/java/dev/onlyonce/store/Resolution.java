package dev.onlyonce.store;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The finding of a reconciler or an operator about an unknown entry.
 *
 * @param id which entry
 * @param createdAt when the entry was made: a finding about an entry of this key that was evicted, or is past its retention,
 *     changes nothing. Null if only the key is known; then the attempt alone must agree
 * @param attempt the attempt whose outcome was unknown: a finding about an older one changes nothing
 * @param to {@link State#COMPLETED}: the effect was found; {@link State#RETRYABLE}: it is proven absent; {@link State#UNKNOWN}: nothing is
 *     decided, the audit keeps the reason as a note
 * @param result what to record for COMPLETED; not copied
 * @param who decided, for the audit
 * @param reason why, for the audit; shortened if it is long
 */
public record Resolution(
        EntryId id,
        @Nullable Instant createdAt,
        int attempt,
        State to,
        byte @Nullable [] result,
        String who,
        String reason) {

    /** Checks that an unknown entry can end so. */
    public Resolution {
        who = AuditText.who(who);
        reason = AuditText.why(reason);
        if (to != State.UNKNOWN && !State.UNKNOWN.canBecome(to)) {
            throw new IllegalArgumentException("an unknown entry cannot be resolved as " + to);
        }
        if (result != null && !to.isAnswered()) {
            throw new IllegalArgumentException("a result cannot be recorded for " + to);
        }
    }

    /** For a caller that has only the key. */
    public Resolution(EntryId id, int attempt, State to, byte @Nullable [] result, String who, String reason) {
        this(id, null, attempt, to, result, who, reason);
    }

    /** About this entry, and no other that its key has had or will have. */
    public Resolution about(Instant createdAt) {
        return new Resolution(id, createdAt, attempt, to, result, who, reason);
    }

    /** With another form of the result. */
    public Resolution withResult(byte @Nullable [] result) {
        return new Resolution(id, createdAt, attempt, to, result, who, reason);
    }

    /** Whether it is about the entry that was made at this time. */
    public boolean isAbout(Instant made) {
        return createdAt == null || createdAt.equals(made);
    }

    /** For callers of other modules, for whose checks of nulls an array is never absent. */
    public static Resolution of(EntryId id, int attempt, State to, Optional<byte[]> result, String who, String reason) {
        return new Resolution(id, attempt, to, result.orElse(null), who, reason);
    }

    /** The effect was found; with what to record, if that is known. */
    public static Resolution found(EntryId id, int attempt, Optional<byte[]> result, String who, String reason) {
        return new Resolution(id, attempt, State.COMPLETED, result.orElse(null), who, reason);
    }

    /** Nobody knows yet; a note for those who look next. */
    public static Resolution note(EntryId id, int attempt, String who, String text) {
        return new Resolution(id, attempt, State.UNKNOWN, null, who, text);
    }

    /** The effect is proven absent. */
    public static Resolution absent(EntryId id, int attempt, String who, String reason) {
        return new Resolution(id, attempt, State.RETRYABLE, null, who, reason);
    }
}
