package dev.onlyonce.internal;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** What one caller of {@link GroupCommit} wants, its answer, and who waits for it: its thread, or a future. */
abstract sealed class Item<R> {
    static final int NO_LANE = -1;

    private final @Nullable CompletableFuture<R> later;
    private final @Nullable Thread caller;
    private final long sinceNanos;

    private volatile @Nullable Object outcome;
    private volatile int lane = NO_LANE;
    /** Whether a try may have done it. */
    private volatile boolean doubted;

    /**
     * Something that is wanted now.
     *
     * @param later takes the answer; none: this thread waits for it
     */
    private Item(long nowNanos, @Nullable CompletableFuture<R> later) {
        this.later = later;
        this.caller = later == null ? Thread.currentThread() : null;
        this.sinceNanos = nowNanos;
    }

    abstract EntryId id();

    static final class Claim extends Item<ClaimResult> {
        private final ClaimRequest request;

        Claim(ClaimRequest request, long nowNanos, @Nullable CompletableFuture<ClaimResult> later) {
            super(nowNanos, later);
            this.request = request;
        }

        ClaimRequest request() {
            return request;
        }

        @Override
        EntryId id() {
            return request.id();
        }
    }

    static final class Settle extends Item<SettleResult> {
        private final Settlement settlement;

        Settle(Settlement settlement, long nowNanos, @Nullable CompletableFuture<SettleResult> later) {
            super(nowNanos, later);
            this.settlement = settlement;
        }

        Settlement settlement() {
            return settlement;
        }

        @Override
        EntryId id() {
            return settlement.id();
        }
    }

    static final class Find extends Item<Optional<Entry>> {
        private final EntryId id;

        Find(EntryId id, long nowNanos) {
            super(nowNanos, null);
            this.id = id;
        }

        @Override
        EntryId id() {
            return id;
        }
    }

    /** Whether a thread waits, which can lead and gives up by itself. */
    final boolean hasCaller() {
        return caller != null;
    }

    final long sinceNanos() {
        return sinceNanos;
    }

    final long waitedNanos(long nowNanos) {
        return nowNanos - sinceNanos;
    }

    final void doubt() {
        doubted = true;
    }

    final boolean isDoubted() {
        return doubted;
    }

    private record Failed(Throwable thrown) {}

    final boolean isDone() {
        return outcome != null;
    }

    final void answer(R result) {
        finish(result);
    }

    final void fail(Throwable thrown) {
        finish(new Failed(thrown));
    }

    private synchronized void finish(Object result) {
        if (outcome == null) {
            outcome = result;
            LockSupport.unpark(caller);
        }
    }

    /** Whether {@link #tell} has been called; what is done waits for it while the rest of its batch is under way. */
    final boolean isTold() {
        return later != null && later.isDone();
    }

    /** Tells who is told later, if it is done. What follows on the future runs here and now, and cannot throw. */
    final void tell() {
        if (later != null && isDone()) {
            Futures.complete(later, this::result);
        }
    }

    /** Makes the waiting caller the leader of a lane. */
    final void passLane(int lane) {
        this.lane = lane;
        LockSupport.unpark(caller);
    }

    final boolean hasLane() {
        return lane != NO_LANE;
    }

    /**
     * Waits for the answer or a lane, at most so long and sometimes shorter. Interrupts are kept for later: the bound is
     * short, and an effect that has happened must be recorded.
     *
     * @return the lane to lead, or {@link #NO_LANE}
     */
    final int awaitNanos(long nanos) {
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
    final R result() {
        Object result = outcome;
        if (result instanceof Failed failed) {
            // One failure may reach many callers; each gets the same exception, whose cause says what happened.
            if (failed.thrown instanceof RuntimeException e) {
                throw e;
            }
            throw new IllegalStateException("The store broke", failed.thrown);
        }
        return (R) requireNonNull(result);
    }
}
