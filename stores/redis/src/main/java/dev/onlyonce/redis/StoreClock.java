package dev.onlyonce.redis;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the store's clock shows at most, from its latest reading and the time that has passed here since that was asked for. So the clocks
 * of two nodes never meet: whatever was read from the store is as old as the store says. Any number of threads.
 */
final class StoreClock {
    /** Until the rates of two clocks, or a step of the store's, could matter. */
    static final Duration KNOWN_FOR = Duration.ofMinutes(1);

    private final Time time;
    private volatile @Nullable Reading latest;

    private record Reading(Instant at, long askedNanos) {}

    StoreClock(Time time) {
        this.time = time;
    }

    long nanos() {
        return time.nanos();
    }

    /** Notes what the clock showed in the answer to a question. */
    void read(Instant at, long askedNanos) {
        latest = new Reading(at, askedNanos);
    }

    void read(Entry entry, long askedNanos) {
        read(entry.readAt(), askedNanos);
    }

    /** The latest that it may be by the store's clock; null if it was not read in the last minute. */
    @Nullable
    Instant latestNow() {
        Reading reading = latest;
        if (reading == null) {
            return null;
        }
        Duration since = Duration.ofNanos(time.nanos() - reading.askedNanos());
        return since.compareTo(KNOWN_FOR) > 0 ? null : reading.at().plus(since);
    }
}
