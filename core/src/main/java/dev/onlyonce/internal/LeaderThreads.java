package dev.onlyonce.internal;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that lead for callers that do not block. They start on demand and end when idle. */
final class LeaderThreads implements Executor, AutoCloseable {
    private static final Duration KEEP = Duration.ofSeconds(60);

    private final ThreadPoolExecutor threads;

    LeaderThreads(int max) {
        threads = new ThreadPoolExecutor(
                max, max, KEEP.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "onlyonce-store");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    /** Keeps no idle thread from now on. Tasks still run: an effect that has happened must be recorded. */
    @Override
    public void close() {
        threads.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
    }
}
