package dev.onlyonce.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Callers that do the same thing again and again, each as soon as its last one is done. */
final class Load {
    private static final int LOOK_MILLIS = 5;

    private final ThreadFactory threads;
    private final int callers;

    Load(ThreadFactory threads, int callers) {
        this.threads = threads;
        this.callers = callers;
    }

    /** What one caller does; called by one thread only. */
    @FunctionalInterface
    interface Caller {
        void call() throws Exception;
    }

    /** Makes a caller, on the thread that will be it. */
    @FunctionalInterface
    interface Callers {
        Caller caller(int number) throws Exception;
    }

    /** Runs for a while and returns how long every call took. A call that throws ends the run. */
    Measured run(Callers contender, Duration duration) throws Exception {
        return run(contender, begun -> System.nanoTime() - begun >= duration.toNanos());
    }

    /** Runs until something else is done. */
    Measured until(Callers contender, Future<?> done) throws Exception {
        return run(contender, begun -> done.isDone());
    }

    private Measured run(Callers contender, LongPredicate done) throws Exception {
        CountDownLatch ready = new CountDownLatch(callers);
        CountDownLatch go = new CountDownLatch(1);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();
        List<Latencies> latencies = new ArrayList<>();
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < callers; i++) {
            Latencies own = new Latencies();
            int number = i;
            latencies.add(own);
            running.add(threads.newThread(() -> {
                try {
                    Caller caller = contender.caller(number);
                    ready.countDown();
                    go.await();
                    while (!stop.get()) {
                        long begun = System.nanoTime();
                        caller.call();
                        own.add(System.nanoTime() - begun);
                    }
                } catch (Exception | Error e) {
                    broken.compareAndSet(null, e);
                    stop.set(true);
                    ready.countDown();
                }
            }));
        }
        running.forEach(Thread::start);
        ready.await();
        long cpuBefore = cpuNanos();
        long begun = System.nanoTime();
        go.countDown();
        while (!done.test(begun) && !stop.get()) {
            running.get(0).join(LOOK_MILLIS);
        }
        stop.set(true);
        for (Thread thread : running) {
            thread.join();
        }
        long took = System.nanoTime() - begun;
        Throwable thrown = broken.get();
        if (thrown != null) {
            throw new IllegalStateException("A caller failed", thrown);
        }
        long cpu = cpuNanos() - cpuBefore;
        return Measured.of(latencies.stream().map(Latencies::all).toList(), took, cpu);
    }

    static long cpuNanos() {
        return cpuNanos(ProcessHandle.current()) + cpuNanosOfServers();
    }

    /** What the processes that this one has started have worked so far. */
    static long cpuNanosOfServers() {
        return ProcessHandle.current().descendants().mapToLong(Load::cpuNanos).sum();
    }

    private static long cpuNanos(ProcessHandle process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    private static final class Latencies {
        private long[] nanos = new long[1024];
        private int count;

        void add(long took) {
            if (count == nanos.length) {
                nanos = Arrays.copyOf(nanos, count * 2);
            }
            nanos[count++] = took;
        }

        long[] all() {
            return Arrays.copyOf(nanos, count);
        }
    }
}
