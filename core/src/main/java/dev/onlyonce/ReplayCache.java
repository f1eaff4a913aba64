package dev.onlyonce;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Recent answers. They do not change until they expire, so a replay needs no store. Each stays no longer than its retention,
 * counted from when it was read, and no longer than the cache's own bound, after which this node notices an eviction on
 * another node.
 *
 * <p>Readers are slow: one that read an answer before it was dropped here, or before a newer answer took its place, must not
 * bring it back.
 */
final class ReplayCache {
    /** The objects around a result, roughly. */
    private static final int OVERHEAD_BYTES = 600;

    /** Ids that share a slot with a dropped one are read from the store once more: a collision costs no more than that. */
    private static final int DROP_SLOTS = 1 << 10;

    /** None if the cache has no room at all. */
    private final @Nullable Cache<EntryId, Cached> cache;

    private final Time time;
    /** When an id of the slot was last dropped; 0 for never. */
    private final AtomicLongArray droppedNanos = new AtomicLongArray(DROP_SLOTS);

    private record Cached(Replay replay, long readNanos) {}

    ReplayCache(long bytesMax, Duration keepMax, Time time) {
        this.time = time;
        cache = bytesMax == 0 ? null : cache(bytesMax, keepMax, time);
    }

    private static Cache<EntryId, Cached> cache(long bytesMax, Duration keepMax, Time time) {
        return Caffeine.newBuilder()
                .maximumWeight(bytesMax)
                .weigher((EntryId id, Cached cached) -> OVERHEAD_BYTES + size(cached.replay.result()))
                .ticker(time::nanos)
                .executor(Runnable::run)
                .expireAfter(Expiry.<EntryId, Cached>writing((id, cached) -> {
                    Duration left = cached.replay.retentionLeft();
                    Duration kept = left.compareTo(keepMax) < 0 ? left : keepMax;
                    // From when it was read: a reader that is held up must not remember for longer.
                    return kept.minusNanos(time.nanos() - cached.readNanos);
                }))
                .build();
    }

    @Nullable
    Replay get(EntryId id) {
        Cached cached = cache == null ? null : cache.getIfPresent(id);
        return cached == null ? null : cached.replay;
    }

    /** Keeps an answer; {@code readNanos} is when its read or settlement began. */
    void put(EntryId id, Replay replay, long readNanos) {
        if (cache != null) {
            cache.asMap()
                    .compute(
                            id,
                            (key, there) ->
                                    wasDroppedSince(key, readNanos) || (there != null && isNewer(there.replay, replay))
                                            ? there
                                            : new Cached(replay, readNanos));
        }
    }

    private static boolean isNewer(Replay there, Replay replay) {
        return there.settledAt().isAfter(replay.settledAt());
    }

    void drop(EntryId id) {
        if (cache != null) {
            // First, so that a reader that puts it after the next line sees this.
            droppedNanos.set(slot(id), time.nanos() | 1);
            cache.invalidate(id);
        }
    }

    private boolean wasDroppedSince(EntryId id, long readNanos) {
        long dropped = droppedNanos.get(slot(id));
        return dropped != 0 && dropped - readNanos >= 0;
    }

    private static int slot(EntryId id) {
        int hash = id.hashCode();
        return (hash ^ (hash >>> 16)) & (DROP_SLOTS - 1);
    }

    private static int size(byte @Nullable [] result) {
        return result == null ? 0 : result.length;
    }
}
