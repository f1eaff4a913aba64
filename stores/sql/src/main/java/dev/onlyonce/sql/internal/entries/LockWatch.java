package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.EntryId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers for a while that somebody holds rows locked. To wait for a lock costs every caller of a batch its time, so it
 * is done once, and not again while the lock may still be there. Any number of threads.
 */
final class LockWatch {
    /** How long batches go around locked rows after one was met; doubled each time it turns out to be too short. */
    static final Duration AROUND_MIN = Duration.ofSeconds(5);

    static final Duration AROUND_MAX = Duration.ofSeconds(60);
    /** How long a key that somebody else is just making counts as such without another look. */
    static final Duration KEY = Duration.ofMillis(250);
    /** Bounds memory; further keys are looked at each time. */
    static final int KEYS_MAX = 10_000;

    private final Map<EntryId, Long> keys = new ConcurrentHashMap<>();
    private boolean met; // guarded by this
    private long metAt; // guarded by this
    private Duration around = AROUND_MIN; // guarded by this

    /** A lock was waited for in vain. */
    synchronized void met() {
        long now = System.nanoTime();
        if (met) {
            Duration since = Duration.ofNanos(now - metAt);
            boolean again = since.compareTo(around) > 0 && since.compareTo(around.multipliedBy(2)) < 0;
            Duration longer = around.multipliedBy(2);
            around = again ? longer.compareTo(AROUND_MAX) < 0 ? longer : AROUND_MAX : around;
            around = since.compareTo(AROUND_MAX.multipliedBy(2)) > 0 ? AROUND_MIN : around;
        }
        met = true;
        metAt = now;
    }

    /** Whether batches should go around locked rows. */
    synchronized boolean isAround() {
        return met && System.nanoTime() - metAt < around.toNanos();
    }

    /** Somebody else is just making this entry. */
    void met(EntryId id) {
        if (keys.size() >= KEYS_MAX) {
            keys.values().removeIf(LockWatch::isOver);
        }
        if (keys.size() < KEYS_MAX) {
            keys.put(id, System.nanoTime());
        }
        met();
    }

    /** Whether somebody else was just making this entry. */
    boolean isMet(EntryId id) {
        Long at = keys.get(id);
        if (at != null && isOver(at)) {
            keys.remove(id, at);
            return false;
        }
        return at != null;
    }

    private static boolean isOver(long at) {
        return System.nanoTime() - at >= KEY.toNanos();
    }
}
