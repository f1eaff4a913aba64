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
public final class PendingMessage<R> {
    /** A message that costs its neighbours their transaction is tried alone then. */
    private static final int TROUBLES_MAX = 3;

    private final ReceivedMessage message;
    private final @Nullable Object order;
    private final R record;

    private int tries;
    private @Nullable Long failedFirstNanos;
    private long dueNanos;
    private @Nullable MessageIdentity identity;
    private @Nullable PoisonMessage verdict;
    private boolean running;
    private int held;
    private int troubles;
    private boolean hung;

    PendingMessage(ReceivedMessage message, @Nullable Object order, R record, long nowNanos) {
        this.message = message;
        this.order = order;
        this.record = record;
        this.dueNanos = nowNanos;
    }

    /** The message. */
    public ReceivedMessage message() {
        return message;
    }

    /** Messages with an equal order stay in order; null if this one has none. */
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
        return !running && nowNanos - dueNanos >= 0;
    }

    /** Whether a thread is applying it. */
    public boolean isRunning() {
        return running;
    }

    void setRunning(boolean running) {
        this.running = running;
    }

    /** Whether it was not applied when it was tried with others, for a reason that may be its own. */
    boolean isSlow() {
        return failedFirstNanos != null || held > 0 || hung || troubles >= TROUBLES_MAX;
    }

    /** Counts that somebody else was applying it; returns how often in a row. */
    int heldAgain() {
        return ++held;
    }

    /** Counts that the store did not answer for it, or for others that were tried with it. */
    void troubled() {
        troubles++;
    }

    /** Whether its handler took too long. */
    boolean hasHung() {
        return hung;
    }

    void hung() {
        hung = true;
    }

    /** When to try it next, by the clock of its {@link MessageDispatcher}. */
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
