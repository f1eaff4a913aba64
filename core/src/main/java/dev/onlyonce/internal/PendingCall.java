package dev.onlyonce.internal;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.EntryId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One caller's request to the store, its answer, and who waits for it: a thread or a future.
 *
 * @param <Q> the request
 * @param <R> the answer
 */
final class PendingCall<Q, R> {
    static final int NO_LANE = -1;

    private final Kind<Q, R> kind;
    private final EntryId id;
    private final Q request;
    private final long sinceNanos;
    private final @Nullable CompletableFuture<R> future;
    private final @Nullable Thread caller;

    /** Whether the caller's thread may lead to the store. */
    private volatile boolean mayLead;

    private volatile @Nullable Object outcome;
    private volatile int lane = NO_LANE;
    /** Whether an attempt may have changed the entry. */
    private volatile boolean inDoubt;

    /** A verb of the store: only calls of one kind share a batch. */
    interface Kind<Q, R> {
        List<R> send(List<Q> requests);
    }

    /**
     * A request that is made now.
     *
     * @param future receives the answer; without it, the current thread waits
     */
    PendingCall(Kind<Q, R> kind, EntryId id, Q request, long nowNanos, @Nullable CompletableFuture<R> future) {
        this.kind = kind;
        this.id = id;
        this.request = request;
        this.sinceNanos = nowNanos;
        this.future = future;
        this.caller = future == null ? Thread.currentThread() : null;
        // An interrupt of a virtual thread closes the socket that it reads from.
        this.mayLead = future == null && !VirtualThreads.isCurrent();
    }

    Kind<Q, R> kind() {
        return kind;
    }

    EntryId id() {
        return id;
    }

    Q request() {
        return request;
    }

    /** Whether a thread waits that can lead, and that watches how long others gather. */
    boolean mayLead() {
        return mayLead;
    }

    /** From now on, others lead for this call. */
    void follow() {
        mayLead = false;
    }

    long sinceNanos() {
        return sinceNanos;
    }

    long waitedNanos(long nowNanos) {
        return nowNanos - sinceNanos;
    }

    void doubt() {
        inDoubt = true;
    }

    boolean isInDoubt() {
        return inDoubt;
    }

    private record Failed(Throwable thrown) {}

    boolean isDone() {
        return outcome != null;
    }

    void answer(R result) {
        finish(result);
    }

    void fail(Throwable thrown) {
        finish(new Failed(thrown));
    }

    private synchronized void finish(Object result) {
        if (outcome == null) {
            outcome = result;
            LockSupport.unpark(caller);
        }
    }

    /** Whether its waiter has the answer: a future gets it after the rest of its batch. */
    boolean isHandedOut() {
        return future == null ? isDone() : future.isDone();
    }

    /** Completes the future, if the call is done. Dependent stages run on this thread; what they throw stays with them. */
    void completeFuture() {
        if (future != null && isDone()) {
            ForOthers.run(() -> Futures.complete(future, this::result));
        }
    }

    /** Makes the waiting caller the leader of a lane. */
    void passLane(int lane) {
        this.lane = lane;
        LockSupport.unpark(caller);
    }

    boolean hasLane() {
        return lane != NO_LANE;
    }

    /**
     * Waits for the answer or a lane. It may return early. An interrupt does not end the wait and is kept: the wait is short,
     * and an effect that has happened must be recorded.
     *
     * @return the lane to lead, or {@link #NO_LANE}
     */
    int awaitNanos(long nanos) {
        boolean interrupted = Thread.interrupted();
        if (!isDone() && !hasLane() && nanos > 0) {
            LockSupport.parkNanos(this, nanos);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        int passed = lane;
        if (passed != NO_LANE) {
            // Only then: a lane that is passed between the two lines must not be forgotten.
            lane = NO_LANE;
        }
        return passed;
    }

    @SuppressWarnings("unchecked")
    R result() {
        Object result = outcome;
        if (result instanceof Failed failed) {
            // Many callers may share one failure: all of them get the same exception.
            if (failed.thrown instanceof RuntimeException e) {
                throw e;
            }
            throw new IllegalStateException("The store broke", failed.thrown);
        }
        return (R) requireNonNull(result);
    }
}
