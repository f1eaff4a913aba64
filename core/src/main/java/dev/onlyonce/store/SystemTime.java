package dev.onlyonce.store;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Real time. */
final class SystemTime implements Time {
    /**
     * Heartbeats, late settlements, sweep and purge block on the store, reconciling blocks on providers. None may wait for
     * another, and giving up on a store that hangs must not wait for them. Up to three heartbeats run at once. Two threads
     * are for the node's owner: gauges, and counts of stored keys.
     */
    private static final int THREADS = 10;

    private static final Logger log = LoggerFactory.getLogger(SystemTime.class);

    private final ScheduledThreadPoolExecutor executor;

    SystemTime() {
        executor = new ScheduledThreadPoolExecutor(THREADS, task -> {
            Thread thread = new Thread(task, "onlyonce-background");
            thread.setDaemon(true);
            return thread;
        });
        executor.setRemoveOnCancelPolicy(true);
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        try {
            Future<?> future = executor.schedule(() -> run(task), delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.error("A background task failed", e);
        }
    }

    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        try {
            signal.get(max.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true;
        }
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
