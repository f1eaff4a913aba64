package dev.onlyonce.internal;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The threads that lead for callers that do not block. They start on demand and end when idle. */
final class LeaderThreads extends ThreadPoolExecutor {
    private static final Duration KEEP = Duration.ofSeconds(60);

    LeaderThreads(int max) {
        super(max, max, KEEP.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "onlyonce-store");
            thread.setDaemon(true);
            return thread;
        });
        allowCoreThreadTimeOut(true);
    }

    /** Keeps no idle thread from now on. Tasks still run: an effect that has happened must be recorded. */
    void endIdle() {
        setKeepAliveTime(1, TimeUnit.NANOSECONDS);
    }
}
