package dev.onlyonce;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Growing pauses with jitter, so that waiters for the same entry do not ask at the same time. */
final class Backoff {
    private static final long FIRST_NANOS = Duration.ofMillis(10).toNanos();
    private static final long LONGEST_NANOS = Duration.ofMillis(500).toNanos();

    private long nanos = FIRST_NANOS;

    Duration next() {
        long jittered = nanos / 2 + ThreadLocalRandom.current().nextLong(nanos);
        nanos = Math.min(LONGEST_NANOS, nanos * 2);
        return Duration.ofNanos(jittered);
    }
}
