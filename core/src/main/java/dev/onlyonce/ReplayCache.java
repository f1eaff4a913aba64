package dev.onlyonce;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Recently answered entries. They do not change until they expire, so a replay needs no store; each stays no longer than
 * its retention, counted from when it was read, and no longer than the cache's own bound, after which an operator's
 * eviction on another node is noticed.
 *
 * <p>Readers are slow: one that read an entry before it was dropped here, or before a newer entry took its place, must not
 * bring it back.
 */
final class ReplayCache {
    /** The objects around a result, roughly. */
    private static final int OVERHEAD_BYTES = 600;

    /** Ids that share a slot with a dropped one are read from the store once more: that is all a collision costs. */
    private static final int DROP_SLOTS = 1 << 10;

    private final Cache<EntryId, Cached> cache;
    private final Time time;
    /** When an id of the slot was dropped last; 0 for never. */
    private final AtomicLongArray droppedNanos = new AtomicLongArray(DROP_SLOTS);

    ReplayCache(long bytesMax, Duration keepMax, Time time) {
        this.time = time;
        cache = Caffeine.newBuilder()
                .maximumWeight(bytesMax)
                .weigher((EntryId id, Cached cached) -> OVERHEAD_BYTES + size(cached.entry.result()))
                .ticker(time::nanos)
                .executor(Runnable::run)
                .expireAfter(Expiry.<EntryId, Cached>writing((id, cached) -> {
                    Duration left = cached.entry.retentionLeft().minusNanos(time.nanos() - cached.readNanos);
                    return left.compareTo(keepMax) < 0 ? left : keepMax;
                }))
                .build();
    }

    @Nullable
    Entry get(EntryId id) {
        Cached cached = cache.getIfPresent(id);
        return cached == null ? null : cached.entry;
    }

    /** Keeps an answered entry; {@code readNanos} is when the read or settlement was begun. */
    void put(Entry entry, long readNanos) {
        if (entry.state().isAnswered()) {
            cache.asMap()
                    .compute(
                            entry.id(),
                            (id, there) ->
                                    wasDroppedSince(id, readNanos) || (there != null && isNewer(there.entry, entry))
                                            ? there
                                            : new Cached(entry, readNanos));
        }
    }

    private static boolean isNewer(Entry there, Entry entry) {
        return there.settledAt() != null
                && entry.settledAt() != null
                && there.settledAt().isAfter(entry.settledAt());
    }

    void drop(EntryId id) {
        // First, so that whoever puts it after the line below sees it.
        droppedNanos.set(slot(id), time.nanos() | 1);
        cache.invalidate(id);
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

    private record Cached(Entry entry, long readNanos) {}
}
