package dev.onlyonce.internal;

import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;

/**
 * Keeps callers off an unavailable store. Each failure in a row doubles the pause, within bounds. The first callers after the
 * pause are the probe; the lanes keep them few.
 */
final class Pause {
    private static final long FIRST_NANOS = Duration.ofMillis(25).toNanos();
    /** Recovery is noticed within this time. */
    private static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

    private final Time time;
    private int failures;
    private volatile boolean paused;
    private volatile long untilNanos;

    Pause(Time time) {
        this.time = time;
    }

    void check() {
        if (paused && time.nanos() - untilNanos < 0) {
            throw new StoreUnavailable("The store failed a moment ago and is not tried again yet", null);
        }
    }

    synchronized void failed() {
        failures++;
        long nanos = Math.min(LONGEST_NANOS, FIRST_NANOS << Math.min(failures - 1, 10));
        untilNanos = time.nanos() + nanos;
        paused = true;
    }

    void succeeded() {
        if (paused) {
            reset();
        }
    }

    private synchronized void reset() {
        failures = 0;
        paused = false;
    }
}
