package dev.onlyonce;

import dev.onlyonce.store.StoreLimits;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How an operation is protected. Made by {@link #builder()}, by {@link Onlyonce.Builder}, or for one operation of it. */
public final class Policy {
    /** The longest {@link #waitMax()}: waiting longer than clients and proxies do helps nobody and holds a thread. */
    public static final Duration WAIT_MAX = Duration.ofMinutes(5);
    /** The largest {@link #resultBytesMax()}: every store takes this in one row and one statement. */
    public static final int RESULT_BYTES_MAX = 16 << 20;

    /** The usual {@link #heldMax()}: longer than any request that a client still waits for. */
    public static final Duration HELD_STANDARD = Duration.ofHours(1);
    /** The longest {@link #heldMax()}: few actions run longer. */
    public static final Duration HELD_MAX = Duration.ofDays(7);

    private final Settings settings;

    record Settings(
            Terms terms,
            Duration waitMax,
            int resultBytesMax,
            FailureRule failures,
            Duration heldMax,
            Duration callMax) {}

    Policy(Settings settings) {
        Terms terms = settings.terms;
        Duration heldMax = settings.heldMax;
        Duration waitMax = settings.waitMax;
        int resultBytesMax = settings.resultBytesMax;
        if (settings.callMax.isNegative() || settings.callMax.compareTo(HELD_MAX) > 0) {
            throw new IllegalArgumentException("callMax must be between 0 and " + HELD_MAX + ": " + settings.callMax);
        }
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
        this.settings = settings;
    }

    /** Lease, what happens when it is lost, retention, tombstone. */
    public Terms terms() {
        return settings.terms;
    }

    /** How long a duplicate waits for the running request before it is answered as in flight; zero for not at all. */
    public Duration waitMax() {
        return settings.waitMax;
    }

    /** The largest result that is stored. A larger one is delivered; a retry learns that it is not stored and never runs. */
    public int resultBytesMax() {
        return settings.resultBytesMax;
    }

    void check(StoreLimits limits) {
        if (resultBytesMax() > limits.resultBytesMax()) {
            throw new IllegalArgumentException("resultBytesMax must be at most " + limits.resultBytesMax()
                    + ", the largest result that the store holds: " + resultBytesMax());
        }
    }

    /** What the action's exceptions prove. */
    public FailureRule failures() {
        return settings.failures;
    }

    /**
     * How long a claim may be held before it is settled. Then heartbeats stop, the lease lapses, and the entry becomes what
     * the terms say: a holder that has forgotten its claim must not keep the key.
     */
    public Duration heldMax() {
        return settings.heldMax;
    }

    /**
     * The longest time from an owner's last look at its lease until its effect has happened or cannot happen any more: the
     * time that a call takes, and a pause of the owner. No absence is believed earlier.
     */
    public Duration callMax() {
        return settings.callMax;
    }

    /** Refuses a reconciler that would believe an absence while a call may be on its way. */
    void check(String operation, Reconciler reconciler) {
        Duration absentAfter = reconciler.absentAfter();
        if (absentAfter.compareTo(callMax()) < 0) {
            throw new IllegalArgumentException("the reconciler of " + operation + " believes an absence after "
                    + absentAfter + " (absentAfter), but a call may take " + callMax()
                    + " (callMax): lengthen absentAfter, or set callMax if no call takes that long");
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

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Policy policy && settings.equals(policy.settings);
    }

    @Override
    public int hashCode() {
        return settings.hashCode();
    }

    @Override
    public String toString() {
        return "Policy" + settings;
    }
}
