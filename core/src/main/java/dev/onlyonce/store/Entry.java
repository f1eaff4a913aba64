package dev.onlyonce.store;

import dev.onlyonce.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored row, as read at {@code readAt}. All instants are the store's clock, so compare them with {@code readAt} and
 * never with the caller's clock.
 *
 * <p>A store returns {@link State#EXPIRED} for an answered entry whose retention is over and whose tombstone still stands,
 * whether or not a purge has come by, and nothing at all for an entry whose tombstone is over too.
 *
 * @param id which entry
 * @param operation the operation that the first claim named
 * @param fingerprint of the first claim's request
 * @param state where it stands
 * @param token of the last claim or acceptance; empty when a sweep or a resolution fenced that owner out
 * @param owner the node that last claimed it
 * @param attempt how many claims there were
 * @param terms the operation's terms
 * @param createdAt when the entry was first claimed or accepted
 * @param leaseUntil when the last claim lapses (pending entries: when they are abandoned)
 * @param settledAt when the entry was settled; empty while pending or processing
 * @param expiresAt when retention is over; empty unless the state {@linkplain State#isPurgeable() is purgeable}
 * @param result the recorded result; empty unless the state {@linkplain State#isAnswered() is answered}, and for a pending
 *     entry that was abandoned. Not copied: do not modify it
 * @param readAt the store's clock when this was read
 */
public record Entry(
        EntryId id,
        String operation,
        Fingerprint fingerprint,
        State state,
        @Nullable UUID token,
        String owner,
        int attempt,
        Terms terms,
        Instant createdAt,
        Instant leaseUntil,
        @Nullable Instant settledAt,
        @Nullable Instant expiresAt,
        byte @Nullable [] result,
        Instant readAt) {

    /** How long the lease still ran when this was read; zero if it had lapsed. */
    public Duration leaseLeft() {
        return left(leaseUntil);
    }

    /** How long the entry still answers, counted from when this was read; zero if it does not expire or has expired. */
    public Duration retentionLeft() {
        return expiresAt == null ? Duration.ZERO : left(expiresAt);
    }

    private Duration left(Instant until) {
        Duration left = Duration.between(readAt, until);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** The same with another result, for a store that keeps results in a form of its own. */
    public Entry withResult(byte @Nullable [] another) {
        return new Entry(
                id,
                operation,
                fingerprint,
                state,
                token,
                owner,
                attempt,
                terms,
                createdAt,
                leaseUntil,
                settledAt,
                expiresAt,
                another,
                readAt);
    }

    /** The same without its result. */
    public Entry withoutResult() {
        return result == null ? this : withResult(null);
    }

    /** For logs: without the result, and with the key shortened. */
    @Override
    public String toString() {
        return id + " " + operation + " " + state + " attempt " + attempt;
    }
}
