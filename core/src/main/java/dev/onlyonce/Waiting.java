package dev.onlyonce;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Duplicates that wait until the running request ends. Each holds a thread, so their number is bounded. */
final class Waiting {
    private final Time time;
    private final Semaphore places;

    Waiting(Time time, int waitersMax) {
        this.time = time;
        this.places = new Semaphore(waitersMax);
    }

    /** The waiting of one request, however often it has to wait: the bound is for all of it. */
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
         * Looks again and again until the request is no longer running.
         *
         * @param local the running claim, if it is this node's: its end wakes the waiter
         * @param look reads the current state of the key; empty if it is free
         * @return the last look; empty if the time ran out, there was no place, or the key is free
         */
        <T> Optional<T> await(@Nullable LiveClaim local, Supplier<Optional<T>> look, Predicate<T> isRunning) {
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
                    Optional<T> now = look.get();
                    if (now.isEmpty() || !isRunning.test(now.get())) {
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

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
