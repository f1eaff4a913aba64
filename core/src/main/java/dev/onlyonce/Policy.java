package dev.onlyonce;

import dev.onlyonce.store.Terms;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
        builder.lease = terms.lease();
        builder.onLeaseLost = terms.onLeaseLost();
        builder.retention = terms.retention();
        builder.tombstone = terms.tombstone();
        builder.waitMax = waitMax;
        builder.resultBytesMax = resultBytesMax;
        builder.failures = failures;
        // What follows from the lease goes on to follow from it.
        builder.heldMax = heldMax.equals(heldStandard(terms.lease())) ? null : heldMax;
        return builder;
    }

    private static Duration heldStandard(Duration lease) {
        return lease.compareTo(HELD_STANDARD) > 0 ? lease : HELD_STANDARD;
    }

    /** Builds a {@link Policy}. */
    public static final class Builder {
        private Duration lease = Duration.ofSeconds(30);
        private OnLeaseLost onLeaseLost = OnLeaseLost.UNKNOWN;
        private Duration retention = Duration.ofHours(24);
        private Duration tombstone = Duration.ZERO;
        private Duration waitMax = Duration.ZERO;
        private int resultBytesMax = 1 << 20;
        private FailureRule failures = FailureRule.standard();
        private @Nullable Duration heldMax;

        private Builder() {}

        /** How long a claim holds without a heartbeat. */
        public Builder lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        /** What becomes of an entry whose owner died. */
        public Builder onLeaseLost(OnLeaseLost onLeaseLost) {
            this.onLeaseLost = onLeaseLost;
            return this;
        }

        /** How long retries are answered, counted from settling. */
        public Builder retention(Duration retention) {
            this.retention = retention;
            return this;
        }

        /** How long after that the key is remembered without its result. */
        public Builder tombstone(Duration tombstone) {
            this.tombstone = tombstone;
            return this;
        }

        /** How long a duplicate waits for the running one. */
        public Builder waitMax(Duration waitMax) {
            this.waitMax = waitMax;
            return this;
        }

        /** The largest result that is stored. */
        public Builder resultBytesMax(int resultBytesMax) {
            this.resultBytesMax = resultBytesMax;
            return this;
        }

        /** What the action's exceptions prove. */
        public Builder failures(FailureRule failures) {
            this.failures = failures;
            return this;
        }

        /**
         * How long a claim may be held before it is settled; one hour, or the lease if that is longer, unless told otherwise.
         * Set it for actions that take longer.
         */
        public Builder heldMax(Duration heldMax) {
            this.heldMax = heldMax;
            return this;
        }

        /** Checks and builds; throws {@link IllegalArgumentException}. */
        public Policy build() {
            Terms terms = new Terms(lease, onLeaseLost, retention, tombstone);
            Duration held = heldMax == null ? heldStandard(lease) : heldMax;
            return new Policy(terms, waitMax, resultBytesMax, failures, held);
        }
    }
}
