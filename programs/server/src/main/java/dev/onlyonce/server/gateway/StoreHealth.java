package dev.onlyonce.server.gateway;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the store can record entries, found out by recording one.
 *
 * <ol>
 *   <li>Whoever asks gets what a probe found less than a second ago, or waits a moment for the one that is under way. There is
 *       never more than one, however many ask and however long the store hangs.
 *   <li>A failed call of the store, or a failed probe, is the beginning of an outage: one line in the log. From then on it is
 *       probed every second, whether somebody asks or not.
 *   <li>A probe that succeeds, without a failed call since the one before, is the end of the outage: one more line.
 * </ol>
 *
 * Thread-safe.
 */
public final class StoreHealth implements Listener {
    private static final Logger log = LoggerFactory.getLogger(StoreHealth.class);

    /** How long a finding counts, and how often a failing store is probed. */
    private static final Duration FRESH = Duration.ofSeconds(1);
    /** Those who ask for readiness give up after a few seconds. */
    private static final Duration WAIT_MAX = Duration.ofSeconds(2);

    private final Runnable probe;
    private final Executor executor;
    private final Time time;
    private final AtomicReference<@Nullable Finding> last = new AtomicReference<>();
    private boolean failing; // guarded by this
    private long failingSince; // guarded by this
    private boolean failedMeanwhile; // guarded by this

    private record Finding(CompletableFuture<Boolean> works, long atNanos) {}

    /**
     * Does nothing yet.
     *
     * @param probe records something; throws {@link StoreException}; may block
     * @param executor for probes
     */
    StoreHealth(Runnable probe, Executor executor, Time time) {
        this.probe = probe;
        this.executor = executor;
        this.time = time;
    }

    /** Whether the store works. Waits a moment at most. */
    boolean isWell() {
        Finding finding = current();
        try {
            return time.await(finding.works(), WAIT_MAX) && finding.works().getNow(false);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Finding current() {
        Finding known = last.get();
        boolean usable = known != null && (!known.works().isDone() || time.nanos() - known.atNanos() < FRESH.toNanos());
        if (usable && known != null) {
            return known;
        }
        Finding next = new Finding(new CompletableFuture<>(), time.nanos());
        if (!last.compareAndSet(known, next)) {
            return current();
        }
        try {
            executor.execute(() -> next.works().complete(probe()));
        } catch (RejectedExecutionException e) {
            next.works().complete(false);
        }
        return next;
    }

    private boolean probe() {
        try {
            probe.run();
            succeeded();
            return true;
        } catch (StoreException e) {
            failed(e);
            return false;
        } catch (RuntimeException | Error e) {
            log.error("The store could not be probed", e);
            return false;
        }
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.StoreFailed storeFailed) {
            failed(storeFailed.failure());
        }
    }

    private synchronized void failed(StoreException failure) {
        failedMeanwhile = true;
        if (!failing) {
            failing = true;
            failingSince = time.nanos();
            log.error(
                    "The store began to fail: protected requests get 503 until it is well again: {}", explain(failure));
            time.schedule(FRESH, this::probeAgain);
        }
    }

    /** What went wrong, and why: a message without a reason after a colon leaves that to its cause. */
    public static String explain(StoreException failure) {
        String message = String.valueOf(failure.getMessage());
        String reason = failure.getCause() == null ? null : failure.getCause().getMessage();
        return reason == null || message.contains(": ") ? message : message + ": " + reason;
    }

    private synchronized void succeeded() {
        if (failing && !failedMeanwhile) {
            failing = false;
            log.warn(
                    "The store is well again after {} s",
                    Duration.ofNanos(time.nanos() - failingSince).toSeconds());
        }
        failedMeanwhile = false;
    }

    private void probeAgain() {
        var unused = current();
        synchronized (this) {
            if (failing) {
                time.schedule(FRESH, this::probeAgain);
            }
        }
    }
}
