package dev.onlyonce.server.gateway;

import io.vertx.core.Context;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Threads for work that blocks on the store: many, because they only wait, and what waits together is committed together.
 * Duplicates that wait for a running request have threads of their own, or they could keep that request from ending.
 */
public final class Workers implements AutoCloseable {
    /** As many as travel to the store in one batch on each of its lanes. */
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

    /** What follows on the context, whether the work was done or threw. */
    record Then<T>(Context context, Consumer<T> done, Consumer<RuntimeException> failed) {
        private Runnable after(Supplier<T> work) {
            return () -> {
                T result;
                try {
                    result = work.get();
                } catch (RuntimeException e) {
                    context.runOnContext(back -> failed.accept(e));
                    return;
                }
                context.runOnContext(back -> done.accept(result));
            };
        }
    }

    /** Runs the work on a worker and what follows on the context; throws {@link RejectedExecutionException} if too much waits. */
    <T> void begin(Supplier<T> work, Then<T> then) {
        if (store.getQueue().size() >= QUEUE_MAX) {
            throw new RejectedExecutionException("too many requests wait for the store");
        }
        settle(work, then);
    }

    /** The same for work that must be done: an exchange that has begun must end. */
    <T> void settle(Supplier<T> work, Then<T> then) {
        store.execute(then.after(work));
    }

    /** The same for work that may wait for long; throws {@link RejectedExecutionException} if too many do. */
    <T> void runWaiting(Supplier<T> work, Then<T> then) {
        waiters.execute(then.after(work));
    }

    @Override
    public void close() {
        store.shutdown();
        waiters.shutdownNow();
    }
}
