package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.SettleResult;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The recorded answer of an operation, for requests that repeat it.
 *
 * @param fingerprint of the request that was executed
 * @param result the stored {@linkplain dev.onlyonce.store.Envelope envelope}: a result or a failure
 * @param settledAt when it was recorded, by the store's clock
 * @param expiresAt when its retention ends, by the store's clock
 * @param retentionLeft how much of its retention was left when it was read or recorded
 */
record Replay(
        String operation,
        Fingerprint fingerprint,
        byte @Nullable [] result,
        Instant settledAt,
        Instant expiresAt,
        Duration retentionLeft) {

    /** The answer in an entry whose state {@linkplain dev.onlyonce.store.State#isAnswered() is answered}. */
    static Replay of(Entry entry) {
        return new Replay(
                entry.operation(),
                entry.fingerprint(),
                entry.result(),
                requireNonNull(entry.settledAt()),
                requireNonNull(entry.expiresAt()),
                entry.retentionLeft());
    }

    /** The answer that this node has just recorded. */
    static Replay of(ClaimAttempt attempt, byte @Nullable [] result, SettleResult.Settled settled) {
        return new Replay(
                attempt.key().operation(),
                attempt.fingerprint(),
                result,
                settled.settledAt(),
                requireNonNull(settled.expiresAt()),
                settled.retention());
    }
}
