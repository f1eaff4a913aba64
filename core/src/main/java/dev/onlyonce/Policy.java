package dev.onlyonce;

import dev.onlyonce.store.Terms;
import java.time.Duration;

/**
 * How an operation is protected.
 *
 * @param terms lease, what happens when it is lost, retention, tombstone
 * @param waitMax how long a duplicate waits for the running one before it is told that it is in flight; zero for not at all
 * @param resultBytesMax larger results are delivered but not stored: a retry is told so, and never executes
 * @param failures what the action's exceptions prove
 * @param heldMax how long a claim may be held before it is settled. After it heartbeats stop, the lease lapses, and the
 *     entry becomes what the terms say: a holder that has forgotten its claim must not keep the key for ever
 */
public record Policy(Terms terms, Duration waitMax, int resultBytesMax, FailureRule failures, Duration heldMax) {
    /** Waiting longer than clients and proxies do helps nobody and holds a thread. */
    public static final Duration WAIT_MAX = Duration.ofMinutes(5);
    /** What every store takes in one row and one statement without special care. */
    public static final int RESULT_BYTES_MAX = 16 << 20;

    /** Longer than any request that a client still waits for; jobs that take longer say so themselves. */
    public static final Duration HELD_STANDARD = Duration.ofHours(1);
    /** Longer than this nobody waits for a forgotten claim, and few actions run. */
    public static final Duration HELD_MAX = Duration.ofDays(7);

    /** Checks the bounds; throws {@link IllegalArgumentException}. */
    public Policy {
        if (heldMax.compareTo(terms.lease()) < 0 || heldMax.compareTo(HELD_MAX) > 0) {
            throw new IllegalArgumentException(
                    "heldMax must be between the lease, " + terms.lease() + ", and " + HELD_MAX + ": " + heldMax);
        }
        if (waitMax.isNegative() || waitMax.compareTo(WAIT_MAX) > 0) {
            throw new IllegalArgumentException("waitMax must be between 0 and " + WAIT_MAX + ": " + waitMax);
        }
        if (resultBytesMax < 0 || resultBytesMax > RESULT_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "resultBytesMax must be between 0 and " + RESULT_BYTES_MAX + ": " + resultBytesMax);
        }
    }

    /** Lease 30 s, unknown when it is lost, held up to 1 h, retention 24 h, no tombstone, no waiting, results up to 1 MiB. */
    public static Policy standard() {
        return builder().build();
    }

    /** Starts from {@link #standard()}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Starts from this policy. */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.start(this);
        return builder;
    }

    /** Builds a {@link Policy}. */
    public static final class Builder extends PolicyOptions<Builder> {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /** Checks and builds; throws {@link IllegalArgumentException}. */
        public Policy build() {
            return policy();
        }
    }
}
