package dev.onlyonce;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A claim that this node holds. 100,000 of them must fit in 256 MiB, so it keeps little. */
final class LiveClaim implements OpenClaim {
    private final Settlements settlements;
    private final ClaimAttempt origin;
    private final int attempt;
    private final AtomicBoolean settled = new AtomicBoolean();

    /** When the lease lapses, if the store granted it as soon as it was asked: never later than it really does. */
    private volatile long leaseUntilNanos;

    private volatile long actionEndedNanos;
    private volatile boolean lost;
    /** Whether the last heartbeat found the row busy; only heartbeats look. */
    private volatile boolean busy;

    private List<Runnable> lostCallbacks = List.of();
    private boolean over; // guarded by this
    private @Nullable CompletableFuture<Void> ended; // guarded by this; made when somebody waits

    LiveClaim(Settlements settlements, ClaimAttempt origin, int attempt) {
        this.settlements = settlements;
        this.origin = origin;
        this.attempt = attempt;
        this.leaseUntilNanos = origin.sinceNanos() + leaseNanos();
    }

    /** The attempt that won it. */
    ClaimAttempt origin() {
        return origin;
    }

    @Override
    public Key key() {
        return origin.key();
    }

    EntryId id() {
        return key().entryId();
    }

    @Override
    public UUID token() {
        return origin.token();
    }

    Policy policy() {
        return origin.policy();
    }

    private long leaseNanos() {
        return policy().terms().lease().toNanos();
    }

    /** When its attempt began. */
    long begunNanos() {
        return origin.sinceNanos();
    }

    /** When its settlement was asked for. */
    long actionEndedNanos() {
        return actionEndedNanos;
    }

    @Override
    public int attempt() {
        return attempt;
    }

    @Override
    public boolean isHeld() {
        return !lost && settlements.nanos() - leaseUntilNanos < 0;
    }

    @Override
    public void onLost(Runnable callback) {
        synchronized (this) {
            if (!lost) {
                lostCallbacks = new ArrayList<>(lostCallbacks);
                lostCallbacks.add(callback);
                return;
            }
        }
        callback.run();
    }

    /** Whether it is time for a heartbeat: a third of the lease has gone. */
    boolean isDue(long now) {
        return !lost && !isHeldTooLong(now) && leaseUntilNanos - now < leaseNanos() / 3 * 2;
    }

    /** Whether nobody is going to settle it any more. */
    boolean isHeldTooLong(long now) {
        return now - begunNanos() >= policy().heldMax().toNanos();
    }

    /** Whether enough of the lease is left to start an action: a heartbeat can still come before its end. */
    boolean isStartable(long now) {
        return leaseUntilNanos - now > Claims.beatNanos(policy().terms().lease());
    }

    boolean wasBusy() {
        return busy;
    }

    void setBusy(boolean busy) {
        this.busy = busy;
    }

    Renewal renewal() {
        return new Renewal(id(), token(), policy().terms().lease());
    }

    /** Answers may overtake one another: an older one takes nothing away. */
    synchronized void renewed(long askedNanos) {
        long until = askedNanos + leaseNanos();
        if (until - leaseUntilNanos > 0) {
            leaseUntilNanos = until;
        }
    }

    boolean isLapsed(long now) {
        return now - leaseUntilNanos >= 0;
    }

    /** Tells the action; once, and not after it has ended: a heartbeat may be overtaken by the settlement. */
    void markLost() {
        List<Runnable> callbacks;
        synchronized (this) {
            if (lost || settled.get()) {
                return;
            }
            lost = true;
            callbacks = lostCallbacks;
            lostCallbacks = List.of();
        }
        // Those who wait for its end on this node look for themselves from now on.
        end();
        callbacks.forEach(settlements::lost);
    }

    /** Done when the claim has been settled or lost: for waiters on this node. */
    synchronized CompletableFuture<Void> ended() {
        if (ended == null) {
            ended = over ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
        }
        return ended;
    }

    void end() {
        CompletableFuture<Void> waiting;
        synchronized (this) {
            over = true;
            waiting = ended;
        }
        if (waiting != null) {
            waiting.complete(null);
        }
    }

    @Override
    public SettleResult settle(Ending ending) {
        return settlements.settle(this, end(ending));
    }

    @Override
    public CompletionStage<SettleResult> settle(Ending ending, Executor blocking) {
        return settlements.settle(this, end(ending), blocking);
    }

    private Settlement end(Ending ending) {
        // First, so that a claim which cannot be settled so is not taken for settled.
        Settlement settlement = settlement(ending);
        if (!settled.compareAndSet(false, true)) {
            throw new IllegalStateException("The claim of " + key() + " has been settled already");
        }
        actionEndedNanos = settlements.nanos();
        return settlement;
    }

    private Settlement settlement(Ending ending) {
        if (ending instanceof Ending.Completed completed && completed.result().length <= policy().resultBytesMax()) {
            return settlement(State.COMPLETED, Envelope.value(completed.result()), "completed");
        } else if (ending instanceof Ending.Failed failed) {
            return settlement(
                    State.FAILED,
                    Envelope.failure(failed.failure()),
                    failed.failure().code());
        } else if (ending instanceof Ending.Retryable retryable) {
            return settlement(State.RETRYABLE, null, retryable.proof());
        } else if (ending instanceof Ending.Unknown unknown) {
            return settlement(State.UNKNOWN, null, unknown.reason());
        }
        Failure failure = new Failure(
                Failure.RESULT_NOT_STORED,
                "It completed, but its result was larger than " + policy().resultBytesMax()
                        + " bytes and was not stored");
        return settlement(State.COMPLETED, Envelope.failure(failure), "completed; the result was too large to store");
    }

    private Settlement settlement(State to, byte @Nullable [] result, String reason) {
        return new Settlement(id(), token(), to, result, reason);
    }
}
