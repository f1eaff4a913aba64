package dev.onlyonce.http.admin;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What all who watch share: however many of them ask, it is looked up every two seconds at most, and what took long is kept for long, so that
 * looking takes a hundredth of the time of one thread. Those who ask while one looks get what was seen before, so that a store which hangs
 * does not take all threads. Thread-safe.
 */
final class Kept<T> {
    private static final long FRESH_NANOS = Duration.ofSeconds(2).toNanos();
    private static final long KEPT_NANOS_MAX = Duration.ofMinutes(1).toNanos();
    private static final int SHARE = 100;

    private final Time time;
    private final ReentrantLock looking = new ReentrantLock();
    private volatile @Nullable T value;
    private long untilNanos;

    Kept(Time time) {
        this.time = time;
    }

    T get(Supplier<T> look) {
        T before = value;
        if (before != null && !looking.tryLock()) {
            return before;
        }
        if (before == null) {
            looking.lock();
        }
        try {
            return renewed(look);
        } finally {
            looking.unlock();
        }
    }

    private T renewed(Supplier<T> look) {
        long begin = time.nanos();
        T kept = value;
        if (kept == null || begin - untilNanos >= 0) {
            kept = look.get();
            long end = time.nanos();
            value = kept;
            untilNanos = end + Math.max(FRESH_NANOS, Math.min(KEPT_NANOS_MAX, SHARE * (end - begin)));
        }
        return kept;
    }
}
