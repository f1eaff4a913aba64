package dev.onlyonce.messages.adapter;

import dev.onlyonce.messages.MessageIdentity;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.ReceivedMessage;
import org.jspecify.annotations.Nullable;

/**
 * A delivered message that is not done yet, and how it fared. Used by the thread that consumes alone.
 *
 * @param <R> what the broker delivered
 */
public final class Letter<R> {
    private final ReceivedMessage message;
    private final @Nullable Object order;
    private final R record;

    private int tries;
    private @Nullable Long failedFirstNanos;
    private long dueNanos;
    private @Nullable MessageIdentity identity;
    private @Nullable PoisonMessage verdict;

    Letter(ReceivedMessage message, @Nullable Object order, R record, long nowNanos) {
        this.message = message;
        this.order = order;
        this.record = record;
        this.dueNanos = nowNanos;
    }

    /** The message. */
    public ReceivedMessage message() {
        return message;
    }

    /** Letters with an equal order stay in order; null if this one has none. */
    public @Nullable Object order() {
        return order;
    }

    /** What the broker delivered. */
    public R record() {
        return record;
    }

    /** How often it failed, in earlier deliveries too if the broker counts them. */
    public int tries() {
        return tries;
    }

    @Nullable
    MessageIdentity identity() {
        return identity;
    }

    void identified(MessageIdentity found) {
        identity = found;
    }

    /** Why it is to become a dead letter; null if it is not. */
    public @Nullable PoisonMessage verdict() {
        return verdict;
    }

    void giveUp(PoisonMessage why) {
        verdict = why;
    }

    boolean isDue(long nowNanos) {
        return nowNanos - dueNanos >= 0;
    }

    /** When to try it next, by the clock of its {@link Desk}. */
    public long dueNanos() {
        return dueNanos;
    }

    void putOff(long untilNanos) {
        dueNanos = untilNanos;
    }

    /** Counts failures of earlier deliveries. */
    void failedBefore(int times) {
        tries += times;
    }

    /** Counts a failure; returns for how long it has been failing in this delivery. */
    long failed(long nowNanos) {
        tries++;
        if (failedFirstNanos == null) {
            failedFirstNanos = nowNanos;
        }
        return nowNanos - failedFirstNanos;
    }
}
