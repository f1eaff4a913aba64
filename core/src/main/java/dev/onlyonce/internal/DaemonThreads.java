package dev.onlyonce.internal;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A few threads of a node's own. They start on demand and end when idle. */
public final class DaemonThreads extends ThreadPoolExecutor {
    private static final Duration KEEP = Duration.ofSeconds(60);

    /** Up to {@code max} threads. */
    public DaemonThreads(String name, int max) {
        super(max, max, KEEP.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
        allowCoreThreadTimeOut(true);
    }

    /** Keeps no idle thread from now on. Tasks still run: an effect that has happened must be recorded. */
    public void endIdle() {
        setKeepAliveTime(1, TimeUnit.NANOSECONDS);
    }
}
