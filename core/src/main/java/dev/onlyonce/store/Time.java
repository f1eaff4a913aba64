package dev.onlyonce.store;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The one source of time of a node. It drives waiting and background work; leases and retention follow the store's clock.
 */
public interface Time extends AutoCloseable {

    /** The wall clock. */
    Instant now();

    /** A monotonic clock in nanoseconds, as {@link System#nanoTime()}. */
    long nanos();

    /** Runs the task once after the delay, unless cancelled before. Tasks may block for a while. */
    Scheduled schedule(Duration delay, Runnable task);

    /**
     * Waits until {@code signal} is done or the time is over.
     *
     * @return whether it is done
     */
    boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException;

    /** Runs the work on one of the threads. A single-threaded simulation runs it on its own thread, when its turn comes. */
    default void run(Executor threads, Runnable work) {
        threads.execute(work);
    }

    /** Stops the background threads, if any. */
    @Override
    void close();

    /** A task that is to run. */
    interface Scheduled {
        /** Prevents it from starting, if it has not. */
        void cancel();
    }

    /** The system's clocks and a few daemon threads of its own. */
    static Time system() {
        return new SystemTime();
    }
}
