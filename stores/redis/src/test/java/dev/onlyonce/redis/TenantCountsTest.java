package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The entries of tenants in Redis")
class TenantCountsTest {
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger counted = new AtomicInteger();
    private final TenantCounts counts = new TenantCounts(nanos::get);

    private Map<String, Integer> counting(long tookNanos) {
        nanos.addAndGet(tookNanos);
        return Map.of("acme", counted.incrementAndGet());
    }

    @Test
    @DisplayName("are counted again each time if that is quick")
    void quick() {
        assertThat(counts.count("acme", () -> counting(1000))).isEqualTo(1);
        assertThat(counts.count("acme", () -> counting(1000))).isEqualTo(2);
        assertThat(counts.count("other", () -> counting(1000))).isZero();
    }

    @Test
    @DisplayName("are counted together, and for at most a hundredth of the time, if that takes long")
    void slow() {
        long second = 1_000_000_000;
        assertThat(counts.count("acme", () -> counting(second))).isEqualTo(1);
        nanos.addAndGet(100 * second - 1);
        assertThat(counts.count("acme", () -> counting(second))).isEqualTo(1);
        assertThat(counts.count("other", () -> counting(second))).isZero();
        nanos.addAndGet(1);
        assertThat(counts.count("acme", () -> counting(second))).isEqualTo(2);
    }
}
