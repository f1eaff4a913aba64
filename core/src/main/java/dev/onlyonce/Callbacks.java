package dev.onlyonce;

import dev.onlyonce.internal.DaemonThreads;
import dev.onlyonce.internal.ForOthers;
import dev.onlyonce.store.Time;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the code of the application that hears of something: listeners, and the callbacks of lost claims.
 *
 * <ol>
 *   <li>An event that a caller causes goes to the listeners on its own thread: if they block, they block that caller.
 *   <li>On a thread that others wait for ({@link ForOthers}), an event only joins the queue of each listener. Each queue is
 *       emptied in order, by one thread at a time, so a listener that blocks delays its own events alone.
 *   <li>The callbacks of lost claims have a few threads, and one queue.
 *   <li>What finds its queue full is dropped, counted, and logged now and then. Nothing here ever waits.
 *   <li>What a callback throws, an Error too, is logged; an interrupt that it leaves behind is cleared.
 * </ol>
 */
final class Callbacks {
    /** As many events as a busy node makes in a second or so; about 1 MB for each listener. */
    static final int WAITING_MAX = 10_000;
    /** Callbacks of lost claims are rare and quick; these many may hang before the others wait. */
    static final int LOST_THREADS = 16;
    /** One line in the log for so many that are dropped. */
    private static final int DROPPED_LOGGED = 1_000;

    private static final Logger log = LoggerFactory.getLogger(Callbacks.class);

    private final Time time;
    private final DaemonThreads threads;
    private final List<Line> listeners;
    private final Line lost;

    Callbacks(Time time, List<Listener> listeners) {
        this.time = time;
        this.threads = new DaemonThreads("onlyonce-callbacks", listeners.size() + LOST_THREADS);
        this.listeners = listeners.stream()
                .map(listener -> new Line(listener.getClass().getName(), 1, listener))
                .toList();
        this.lost = new Line("onLost", LOST_THREADS, event -> {});
    }

    /** Whether there is a listener. */
    boolean isHeard() {
        return !listeners.isEmpty();
    }

    /** Passes an event to the listeners. */
    void tell(Event event) {
        boolean later = ForOthers.isNow();
        for (Line line : listeners) {
            Runnable call = () -> line.listener.on(event);
            if (later) {
                line.add(call);
            } else {
                line.run(call);
            }
        }
    }

    /** Runs the callback of a lost claim. */
    void lost(Runnable callback) {
        lost.add(callback);
    }

    /** How many events and callbacks were dropped. */
    long dropped() {
        return listeners.stream().mapToLong(Line::dropped).sum() + lost.dropped();
    }

    /** Keeps no idle thread. What waits still runs. */
    void close() {
        threads.endIdle();
    }

    /** A queue, and how many threads may empty it at once. */
    private final class Line {
        private final String name;
        private final int threadsMax;
        private final Listener listener;
        private final Deque<Runnable> waiting = new ArrayDeque<>();
        private int running;
        private long dropped;

        Line(String name, int threadsMax, Listener listener) {
            this.name = name;
            this.threadsMax = threadsMax;
            this.listener = listener;
        }

        synchronized long dropped() {
            return dropped;
        }

        void add(Runnable call) {
            synchronized (this) {
                if (waiting.size() >= WAITING_MAX) {
                    drop();
                    return;
                }
                waiting.addLast(call);
                if (running == threadsMax) {
                    return;
                }
                running++;
            }
            try {
                time.run(threads, this::empty);
            } catch (RuntimeException | Error e) {
                // There is no thread now; the next call tries again.
                synchronized (this) {
                    running--;
                }
                log.error("There is no thread for {}", name, e);
            }
        }

        private void drop() {
            if (dropped++ % DROPPED_LOGGED == 0) {
                log.error("{} is too slow: {} wait for it, and {} calls were dropped", name, WAITING_MAX, dropped);
            }
        }

        private void empty() {
            for (Runnable call = next(); call != null; call = next()) {
                run(call);
                // Whoever is next on this thread was not interrupted.
                if (Thread.interrupted()) {
                    log.debug("{} left an interrupt behind", name);
                }
            }
        }

        private synchronized @Nullable Runnable next() {
            Runnable call = waiting.pollFirst();
            if (call == null) {
                running--;
            }
            return call;
        }

        private void run(Runnable call) {
            try {
                call.run();
            } catch (RuntimeException | Error e) {
                log.warn("{} failed", name, e);
            }
        }
    }
}
