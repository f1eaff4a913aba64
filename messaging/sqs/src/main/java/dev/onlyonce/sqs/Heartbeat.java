package dev.onlyonce.sqs;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps messages that are held here from being delivered to others: extends their visibility timeouts, three times within one. If that
 * fails for too long, another consumer gets them too, and recognises what is applied. Any number of threads.
 */
final class Heartbeat implements AutoCloseable {
    private static final int BEATS = 3;

    private final Queue queue;
    private final Duration visibility;
    private final Time time;

    // Guarded by this.
    private final Set<String> held = new HashSet<>();
    private CompletableFuture<Void> beat = CompletableFuture.completedFuture(null);
    private Time.@Nullable Scheduled next;
    private boolean closed;

    Heartbeat(Queue queue, Duration visibility, Time time) {
        this.queue = queue;
        this.visibility = visibility;
        this.time = time;
    }

    synchronized void start() {
        if (!closed) {
            next = time.schedule(visibility.dividedBy(BEATS), this::beat);
        }
    }

    /** Holds deliveries from now on. */
    synchronized void hold(Collection<String> receipts) {
        held.addAll(receipts);
    }

    /** Extends them no more. */
    synchronized void release(Collection<String> receipts) {
        receipts.forEach(held::remove);
    }

    /** Is done when no extension is on its way that could overtake what the caller does next. */
    synchronized CompletableFuture<Void> quiet() {
        return beat;
    }

    private synchronized void beat() {
        start();
        if (!held.isEmpty() && beat.isDone()) {
            List<Queue.Visibility> all = held.stream()
                    .map(receipt -> new Queue.Visibility(receipt, visibility))
                    .toList();
            // One that hangs must not keep the next from being tried.
            beat = queue.hide(all)
                    .completeOnTimeout(null, visibility.dividedBy(BEATS).toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** What is still held is delivered again when its visibility timeout is over. */
    @Override
    public synchronized void close() {
        closed = true;
        held.clear();
        if (next != null) {
            next.cancel();
        }
    }
}
