package dev.onlyonce.sql.connections;

import java.sql.SQLException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs work on threads that nobody interrupts. An interrupt closes the file that a thread is reading or writing, and with it an
 * H2 database for everybody in the process. The caller waits, and keeps its interrupt for later.
 */
final class OwnThreads {
    /** As many as there are callers; an idle thread ends after a minute. */
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "onlyonce-h2");
        thread.setDaemon(true);
        return thread;
    });

    <T> T run(Callable<T> work) throws SQLException {
        Future<T> running = threads.submit(work);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return running.get();
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

    private static SQLException thrown(Throwable cause) {
        if (cause instanceof RuntimeException e) {
            throw e;
        }
        if (cause instanceof Error e) {
            throw e;
        }
        return cause instanceof SQLException e ? e : new SQLException(cause);
    }
}
