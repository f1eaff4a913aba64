package dev.onlyonce.internal;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** How long each operation takes as a rule: an exponential moving average, for {@code Retry-After}. */
final class Usual {
    /** Operations are few; more than this means that somebody puts ids into their names. */
    private static final int OPERATIONS_MAX = 1000;

    private final Map<String, Long> nanos = new ConcurrentHashMap<>();

    void took(String operation, long took) {
        if (nanos.size() < OPERATIONS_MAX || nanos.containsKey(operation)) {
            nanos.merge(operation, took, (old, now) -> old + (now - old) / 8);
        }
    }

    @Nullable
    Duration of(String operation) {
        Long usual = nanos.get(operation);
        return usual == null ? null : Duration.ofNanos(usual);
    }
}
