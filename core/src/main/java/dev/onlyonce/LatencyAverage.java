package dev.onlyonce;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How long each operation usually takes: an exponential moving average, for {@code Retry-After}. */
final class LatencyAverage {
    /** Operations are few; more than this means that their names contain ids. */
    private static final int OPERATIONS_MAX = 1000;

    private final Map<String, AtomicLong> nanos = new ConcurrentHashMap<>();

    /** Not atomic: if two end at the same time, one may not count. An average can do without it. */
    void took(String operation, long took) {
        AtomicLong usual = nanos.get(operation);
        if (usual != null) {
            long old = usual.get();
            usual.set(old + (took - old) / 8);
        } else if (nanos.size() < OPERATIONS_MAX) {
            nanos.put(operation, new AtomicLong(took));
        }
    }

    @Nullable
    Duration of(String operation) {
        AtomicLong usual = nanos.get(operation);
        return usual == null ? null : Duration.ofNanos(usual.get());
    }
}
