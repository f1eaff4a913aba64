package dev.onlyonce;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Duplicates that wait for the running one to end. Each holds a thread, so there is room for a bounded number only. */
final class Waiting {
    private final Time time;
    private final Semaphore places;

    Waiting(Time time, int waitersMax) {
        this.time = time;
        this.places = new Semaphore(waitersMax);
    }

    /** One request's waiting, however often it has to wait: the bound is for all of it. */
    Turn turn(Duration max) {
        return new Turn(max);
    }

    final class Turn implements AutoCloseable {
        private final Duration max;
        private long deadline;
        private boolean placed;

        private Turn(Duration max) {
            this.max = max;
        }

        /**
         * Waits until the entry is no longer running.
         *
         * @param local the claim, if it is this node's
         * @return the entry then; empty if the time was over, there was no place, or the entry is gone
         */
        Optional<Entry> await(Entry entry, @Nullable LiveClaim local, Function<EntryId, Optional<Entry>> find) {
            if (max.isZero() || !takePlace()) {
                return Optional.empty();
            }
            Backoff backoff = new Backoff();
            try {
                while (true) {
                    Duration left = Duration.ofNanos(deadline - time.nanos());
                    if (left.isNegative() || left.isZero()) {
                        return Optional.empty();
                    }
                    if (local == null) {
                        time.await(new CompletableFuture<Void>(), shorter(backoff.next(), left));
                    } else {
                        time.await(local.ended(), left);
                    }
                    Optional<Entry> now = find.apply(entry.id());
                    if (now.isEmpty() || !isRunning(now.get().state())) {
                        return now;
                    }
                    local = null;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
        }

        private boolean takePlace() {
            if (!placed && places.tryAcquire()) {
                placed = true;
                deadline = time.nanos() + max.toNanos();
            }
            return placed;
        }

        @Override
        public void close() {
            if (placed) {
                places.release();
            }
        }
    }

    static boolean isRunning(State state) {
        return state == State.PENDING || state == State.PROCESSING;
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
