package dev.onlyonce;

import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link Policy}, for builders.
 *
 * @param <B> the builder
 */
public abstract sealed class PolicyOptions<B extends PolicyOptions<B>>
        permits Policy.Builder, OperationOptions, Onlyonce.Builder {
    private Duration lease = Duration.ofSeconds(30);
    private OnLeaseLost onLeaseLost = OnLeaseLost.UNKNOWN;
    private Duration retention = Duration.ofHours(24);
    private Duration tombstone = Duration.ZERO;
    private Duration waitMax = Duration.ZERO;
    private int resultBytesMax = 1 << 20;
    private FailureRule failures = FailureRule.standard();
    private @Nullable Duration heldMax;
    private Duration callMax = Duration.ofMinutes(1);

    PolicyOptions() {}

    /** Starts from a policy. */
    final void start(Policy policy) {
        lease = policy.terms().lease();
        onLeaseLost = policy.terms().onLeaseLost();
        retention = policy.terms().retention();
        tombstone = policy.terms().tombstone();
        waitMax = policy.waitMax();
        resultBytesMax = policy.resultBytesMax();
        failures = policy.failures();
        callMax = policy.callMax();
        // A bound that follows from the lease keeps following from it.
        heldMax = policy.heldMax().equals(heldStandard(lease)) ? null : policy.heldMax();
    }

    private static Duration heldStandard(Duration lease) {
        return lease.compareTo(Policy.HELD_STANDARD) > 0 ? lease : Policy.HELD_STANDARD;
    }

    abstract B self();

    /** How long a claim holds without a heartbeat. */
    public final B lease(Duration lease) {
        this.lease = lease;
        return self();
    }

    /** The next state of an entry whose owner died. */
    public final B onLeaseLost(OnLeaseLost onLeaseLost) {
        this.onLeaseLost = onLeaseLost;
        return self();
    }

    /** How long retries are answered, counted from settling. */
    public final B retention(Duration retention) {
        this.retention = retention;
        return self();
    }

    /** How long the key is remembered without its result after the retention. */
    public final B tombstone(Duration tombstone) {
        this.tombstone = tombstone;
        return self();
    }

    /** How long a duplicate waits for the running one; not at all by default. */
    public final B waitMax(Duration waitMax) {
        this.waitMax = waitMax;
        return self();
    }

    /** The largest result that is stored. */
    public final B resultBytesMax(int resultBytesMax) {
        this.resultBytesMax = resultBytesMax;
        return self();
    }

    /** What the action's exceptions prove. */
    public final B failures(FailureRule failures) {
        this.failures = failures;
        return self();
    }

    /**
     * How long a claim may be held before it is settled; by default one hour, or the lease if that is longer. Set it for actions
     * that take longer.
     */
    public final B heldMax(Duration heldMax) {
        this.heldMax = heldMax;
        return self();
    }

    /**
     * The longest time from an owner's last look at its lease until its effect has happened or cannot happen any more: the time-out
     * of the call, the time in queues, and the longest pause of a node. A reconciler that believes an absence earlier is refused.
     */
    public final B callMax(Duration callMax) {
        this.callMax = callMax;
        return self();
    }

    /** Checks and builds; throws {@link IllegalArgumentException}. */
    final Policy policy() {
        Terms terms = new Terms(lease, onLeaseLost, retention, tombstone);
        Duration held = heldMax == null ? heldStandard(lease) : heldMax;
        return new Policy(new Policy.Settings(terms, waitMax, resultBytesMax, failures, held, callMax));
    }
}
