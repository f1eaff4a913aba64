package dev.onlyonce.testkit;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Time that passes only when a test says so. Any number of threads may use it.
 *
 * <p>{@link #advance} goes from one due task to the next: the clock stands at a task's instant while the task runs, on
 * the thread that advances. Tasks due at the same instant run in the order in which they were scheduled, and a task that
 * is scheduled within the span by another task runs in the same advance.
 */
public final class ManualTime implements Time {
    /** Longer than any test takes: a test that hangs fails instead. */
    private static final long PATIENCE_SECONDS = 120;

    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private Instant now;
    private long nanos;
    private long scheduled;
    private int waiting;
    private boolean closed;

    /** Starts at the first instant of 2026. */
    public ManualTime() {
        this(Instant.parse("2026-01-01T00:00:00Z"));
    }

    /** Starts at the given instant. */
    public ManualTime(Instant start) {
        now = start;
    }

    @Override
    public synchronized Instant now() {
        return now;
    }

    @Override
    public synchronized long nanos() {
        return nanos;
    }

    @Override
    public synchronized Scheduled schedule(Duration delay, Runnable task) {
        Task entry = new Task(nanos + Math.max(0, delay.toNanos()), scheduled++, task);
        if (!closed) {
            tasks.add(entry);
        }
        return () -> cancel(entry);
    }

    private synchronized void cancel(Task task) {
        tasks.remove(task);
    }

    /**
     * Lets time pass and runs what falls due, on this thread. What a task throws is thrown here, after time has reached
     * the task's instant and no further.
     */
    public void advance(Duration span) {
        if (span.isNegative()) {
            throw new IllegalArgumentException("time does not go back; see jump: " + span);
        }
        long end;
        synchronized (this) {
            end = nanos + span.toNanos();
        }
        for (Runnable task = next(end); task != null; task = next(end)) {
            task.run();
        }
    }

    /** Moves the clock to the next due task and hands it out, or moves it to the end. */
    private synchronized @Nullable Runnable next(long end) {
        Task task = tasks.peek();
        boolean due = task != null && task.at <= end;
        moveTo(task != null && due ? task.at : end);
        if (task == null || !due) {
            return null;
        }
        tasks.remove(task);
        return task.run;
    }

    private void moveTo(long to) {
        if (to > nanos) {
            now = now.plusNanos(to - nanos);
            nanos = to;
            notifyAll();
        }
    }

    /** Sets the wall clock wrong, forwards or back; the monotonic clock and the tasks do not move. */
    public synchronized void jump(Duration span) {
        now = now.plus(span);
    }

    /** How many tasks are scheduled. */
    public synchronized int tasks() {
        return tasks.size();
    }

    /** Blocks until the signal is done, or until other threads have advanced the clock by {@code max}. */
    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        var unused = signal.whenComplete((value, failure) -> wake());
        synchronized (this) {
            long end = nanos + max.toNanos();
            waiting++;
            notifyAll();
            try {
                while (!signal.isDone() && nanos < end && !closed) {
                    wait();
                }
            } finally {
                waiting--;
                notifyAll();
            }
            return signal.isDone();
        }
    }

    private synchronized void wake() {
        notifyAll();
    }

    /**
     * Blocks until at least this many threads are inside {@link #await}, so that a test knows they are waiting without
     * sleeping.
     *
     * @throws IllegalStateException if that does not happen within two minutes of real time
     */
    public synchronized void untilWaiting(int threads) throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (waiting < threads) {
            long left = giveUp - System.nanoTime();
            if (left <= 0) {
                throw new IllegalStateException("only " + waiting + " of " + threads + " threads are waiting");
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** The same time for a test with one thread: waiting lets time pass, and runs what falls due, instead of blocking. */
    public Time alone() {
        return new ForwardingTime(this) {
            @Override
            public boolean await(CompletableFuture<?> signal, Duration max) {
                if (!signal.isDone()) {
                    advance(max);
                }
                return signal.isDone();
            }
        };
    }

    /** Forgets all tasks and lets every thread that is waiting go. */
    @Override
    public synchronized void close() {
        closed = true;
        tasks.clear();
        notifyAll();
    }

    private record Task(long at, long order, Runnable run) implements Comparable<Task> {
        @Override
        public int compareTo(Task other) {
            int byTime = Long.compare(at, other.at);
            return byTime == 0 ? Long.compare(order, other.order) : byTime;
        }
    }
}
