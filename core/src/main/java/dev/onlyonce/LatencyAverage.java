package dev.onlyonce;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** How long each operation takes as a rule: an exponential moving average, for {@code Retry-After}. */
final class LatencyAverage {
    /** Operations are few; more than this means that somebody puts ids into their names. */
    private static final int OPERATIONS_MAX = 1000;

    private final Map<String, AtomicLong> nanos = new ConcurrentHashMap<>();

    /** Of two that end at once one may not count: an average can do without, and nobody waits for anybody. */
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
