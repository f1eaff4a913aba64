package dev.onlyonce.server.gateway;

import dev.onlyonce.fingerprint.Fingerprinter;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for what an event loop must not do, in three pools, so that none keeps another from its work:
 *
 * <ul>
 *   <li>what blocks on the store, which is rare: threads that mostly wait;
 *   <li>comparing large bodies, which needs a processor and memory: as many threads as there are processors;
 *   <li>duplicates that wait for a running request: they could keep that request from ending.
 * </ul>
 *
 * The threads of the first two are started at once: under load the system may refuse to start any.
 */
public final class Workers implements AutoCloseable {
    /** Many of them travel to the store in one batch. */
    static final int THREADS = 64;
    /** What fits is served within the store's own time-out; more is refused. */
    static final int QUEUE_MAX = 2_500;
    /** Beyond them a duplicate does not wait: its answer says at once that the first request is running. */
    static final int WAITERS_MAX = 64;

    private static final int STACK_BYTES = 512 << 10;
    private static final long KEEP_SECONDS = 60;
    private static final int KIB = 1 << 10;

    private final ThreadPoolExecutor store;
    private final ThreadPoolExecutor compare;
    private final ThreadPoolExecutor waiters;
    private final int compareKibMax;
    private final Semaphore compareKib;

    /** Comparing takes no more memory than this, except for a single body that needs more. */
    public Workers(long compareBytesMax) {
        this(compareBytesMax, Workers::daemon);
    }

    Workers(long compareBytesMax, ThreadFactory threads) {
        int processors = Math.max(2, Runtime.getRuntime().availableProcessors());
        store = fixed(THREADS, named("store", threads));
        compare = fixed(processors, named("compare", threads));
        waiters = new ThreadPoolExecutor(
                0, WAITERS_MAX, KEEP_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), named("wait", threads));
        compareKibMax = (int) Math.max(1, Math.min(Integer.MAX_VALUE, compareBytesMax / KIB));
        compareKib = new Semaphore(compareKibMax, true);
    }

    private static ThreadPoolExecutor fixed(int count, ThreadFactory threads) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                count, count, KEEP_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        pool.prestartAllCoreThreads();
        return pool;
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(null, task, "worker", STACK_BYTES);
        thread.setDaemon(true);
        return thread;
    }

    private static ThreadFactory named(String name, ThreadFactory threads) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = threads.newThread(task);
            thread.setName(name + "-" + number.incrementAndGet());
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
        execute(store, work);
    }

    /** Runs work that makes the fingerprint of a large body. How many wait is bounded by the memory for their bodies. */
    void compare(int bodyBytes, Runnable work) {
        long kib = (long) bodyBytes * Fingerprinter.MEMORY_FACTOR / KIB + 1;
        int share = (int) Math.min(kib, compareKibMax);
        execute(compare, () -> {
            compareKib.acquireUninterruptibly(share);
            try {
                work.run();
            } finally {
                compareKib.release(share);
            }
        });
    }

    /** Runs work that may wait for long; throws {@link RejectedExecutionException} if too many do. */
    void await(Runnable work) {
        execute(waiters, work);
    }

    private static void execute(ThreadPoolExecutor pool, Runnable work) {
        try {
            pool.execute(work);
        } catch (OutOfMemoryError e) {
            // The system has no thread to give, which is no reason to give up anything else.
            throw new RejectedExecutionException("no thread can be started", e);
        }
    }

    @Override
    public void close() {
        store.shutdown();
        compare.shutdown();
        waiters.shutdownNow();
    }
}
