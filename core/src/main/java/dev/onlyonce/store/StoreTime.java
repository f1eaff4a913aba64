package dev.onlyonce.store;

import java.time.Instant;

/**
 * The store's time, as exactly as the store knows it. What is over is judged by the earliest, and what is written says the latest: so
 * no lease and no retention ends too soon, whichever it is.
 *
 * @param earliest it is at least this late
 * @param latest it is at most this late
 */
public record StoreTime(Instant earliest, Instant latest) {
    /** Of a store whose clock is exact. */
    public static StoreTime at(Instant now) {
        return new StoreTime(now, now);
    }

    /** Whether it has come, for sure. */
    public boolean isAt(Instant instant) {
        return !instant.isAfter(earliest);
    }
}
