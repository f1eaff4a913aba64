package dev.onlyonce.internal;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Time;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Answered entries of late. They do not change until they expire, so a replay needs no store; each stays no longer than
 * its retention, counted from when it was read, and no longer than the cache's own bound, after which an operator's
 * eviction on another node is noticed.
 */
final class ReplayCache {
    /** The objects around a result, roughly. */
    private static final int OVERHEAD_BYTES = 600;

    private final Cache<EntryId, Cached> cache;

    ReplayCache(long bytesMax, Duration keepMax, Time time) {
        cache = Caffeine.newBuilder()
                .maximumWeight(bytesMax)
                .weigher((EntryId id, Cached cached) -> OVERHEAD_BYTES + size(cached.entry.result()))
                .ticker(time::nanos)
                .executor(Runnable::run)
                .expireAfter(Expiry.<EntryId, Cached>creating((id, cached) -> {
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
            cache.put(entry.id(), new Cached(entry, readNanos));
        }
    }

    void drop(EntryId id) {
        cache.invalidate(id);
    }

    private static int size(byte @Nullable [] result) {
        return result == null ? 0 : result.length;
    }

    private record Cached(Entry entry, long readNanos) {}
}
