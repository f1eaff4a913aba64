package dev.onlyonce.sql.connections;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on threads that nobody interrupts. An interrupt closes the file that a thread is reading or writing, and with it an
 * H2 database for everybody in the process. The caller waits, and keeps its interrupt for later. Its wait has a bound:
 * the database may be in another process that hangs, and H2's driver has none.
 */
final class OwnThreads {
    private static final String TRANSACTION_RESOLUTION_UNKNOWN = "08007";

    private final Duration waitMax;

    /** As many as there are connections in use; an idle one ends by itself, so that there is nothing to close. */
    private final ExecutorService threads =
            new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> {
                Thread thread = new Thread(work, "onlyonce-h2");
                thread.setDaemon(true);
                return thread;
            });

    OwnThreads(Duration waitMax) {
        this.waitMax = waitMax;
    }

    /**
     * Runs work. After the longest wait it goes on without its caller.
     *
     * @param notBegun runs instead if there can be no more threads
     */
    <T> T run(Callable<T> work, Runnable notBegun) throws SQLException {
        Future<T> running;
        try {
            running = threads.submit(work);
        } catch (Throwable e) {
            notBegun.run();
            throw e;
        }
        boolean interrupted = false;
        long begun = System.nanoTime();
        try {
            while (true) {
                try {
                    return running.get(waitMax.toNanos() - (System.nanoTime() - begun), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    throw new SQLException("no answer after " + waitMax, TRANSACTION_RESOLUTION_UNKNOWN, e);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw thrown(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static SQLException thrown(@Nullable Throwable cause) {
        if (cause instanceof RuntimeException e) {
            throw e;
        }
        if (cause instanceof Error e) {
            throw e;
        }
        return cause instanceof SQLException e ? e : new SQLException(cause);
    }
}
