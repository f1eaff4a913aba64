package dev.onlyonce.cassandra;

import java.time.Duration;

/**
 * Notices when the cluster's clock goes back: most of its nodes were ahead, and were set right. What a store remembers by the time of its
 * last look is wrong from then on. Any number of threads.
 */
final class WatchedClock implements Clock {
    /** More than the median of the nodes' clocks moves by itself. */
    private static final long BACK = Micros.of(Duration.ofSeconds(5));

    private final Clock clock;
    private long latest = Long.MIN_VALUE; // guarded by this
    private volatile int timesSetBack;

    WatchedClock(Clock clock) {
        this.clock = clock;
    }

    @Override
    public long now() {
        long now = clock.now();
        synchronized (this) {
            if (latest != Long.MIN_VALUE && now < latest - BACK) {
                timesSetBack++;
                latest = now;
            }
            latest = Math.max(latest, now);
        }
        return now;
    }

    @Override
    public long error() {
        return clock.error();
    }

    @Override
    public long spread() {
        return clock.spread();
    }

    /** How often it was seen to have gone back. */
    int timesSetBack() {
        return timesSetBack;
    }
}
