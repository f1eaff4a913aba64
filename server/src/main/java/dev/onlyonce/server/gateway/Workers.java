package dev.onlyonce.server.gateway;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for work that blocks: what is rare about the store, and large bodies. Many, because most of them only wait.
 * Duplicates that wait for a running request have threads of their own, or they could keep that request from ending.
 */
public final class Workers implements AutoCloseable {
    /** As many as travel to the store in one batch. */
    static final int THREADS = 256;
    /** What fits is served within the store's own time-out; more is refused. */
    static final int QUEUE_MAX = 10_000;
    /** Beyond them a duplicate is told at once that the first request is running. */
    static final int WAITERS_MAX = 256;

    private static final int STACK_BYTES = 512 << 10;
    private static final long KEEP_SECONDS = 60;

    private final ThreadPoolExecutor store;
    private final ThreadPoolExecutor waiters;

    /** Starts threads as they are needed. */
    public Workers() {
        store = new ThreadPoolExecutor(
                THREADS, THREADS, KEEP_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), named("store"));
        store.allowCoreThreadTimeOut(true);
        waiters = new ThreadPoolExecutor(
                0, WAITERS_MAX, KEEP_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), named("wait"));
    }

    private static ThreadFactory named(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(null, task, name + "-" + number.incrementAndGet(), STACK_BYTES);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Runs the work; throws {@link RejectedExecutionException} if too much waits. */
    void begin(Runnable work) {
        if (store.getQueue().size() >= QUEUE_MAX) {
            throw new RejectedExecutionException("too many requests wait for the store");
        }
        settle(work);
    }

    /** Runs work that must be done: an exchange that has begun must end. */
    void settle(Runnable work) {
        store.execute(work);
    }

    /** Runs work that may wait for long; throws {@link RejectedExecutionException} if too many do. */
    void await(Runnable work) {
        waiters.execute(work);
    }

    @Override
    public void close() {
        store.shutdown();
        waiters.shutdownNow();
    }
}
