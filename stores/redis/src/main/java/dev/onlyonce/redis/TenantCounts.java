package dev.onlyonce.redis;

import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How many entries each tenant has. Counting looks at the ids of all entries, so the counts of all tenants are taken together, and kept for
 * a hundred times as long as counting took, if that was long. Any number of threads.
 */
final class TenantCounts {
    private static final long QUICK_NANOS = 20_000_000;
    private static final int KEPT_TIMES = 100;

    private final LongSupplier nanos;
    private @Nullable Map<String, Integer> counts;
    private long keptUntilNanos;

    TenantCounts(LongSupplier nanos) {
        this.nanos = nanos;
    }

    synchronized int count(String tenant, Supplier<Map<String, Integer>> counting) {
        Map<String, Integer> known = counts;
        long began = nanos.getAsLong();
        if (known == null || began - keptUntilNanos >= 0) {
            known = counting.get();
            long took = nanos.getAsLong() - began;
            keptUntilNanos = began + took + (took < QUICK_NANOS ? 0 : KEPT_TIMES * took);
            counts = known;
        }
        return known.getOrDefault(tenant, 0);
    }
}
