package dev.onlyonce.http;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.onlyonce.store.Time;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What one tenant may do on this node: new keys a second, requests being executed at once, and status look-ups a second.
 * Retries of keys that exist are never limited. Each node counts for itself: with n nodes a tenant may do n times as much. A
 * limit of 0 is none.
 *
 * <p>"Live" are the keys that are being executed on this node. Keys that are settled and still answer are bounded by the
 * rate of new keys times the retention; counting them in the store would cost more than they do.
 */
public final class TenantLimits {
    /** More tenants than this at once on one node share nothing but the risk of a fresh allowance. */
    private static final int TENANTS_MAX = 100_000;
    /** What is under way ends on its own; asking again sooner is of no use. */
    private static final Duration RETRY_AFTER_LIVE = Duration.ofSeconds(1);

    private final int newKeysPerSecond;
    private final int liveMax;
    private final int lookUpsPerSecond;
    private final LoadingCache<String, Bucket> newKeys;
    private final LoadingCache<String, Bucket> lookUps;
    private final Map<String, Integer> live = new ConcurrentHashMap<>();

    /**
     * Limits per tenant and node; 0 for none.
     *
     * @param newKeysPerSecond and as many at once after a pause
     * @param liveMax requests being executed
     * @param lookUpsPerSecond on the status resource, and as many at once after a pause
     * @param time drives the buckets
     */
    public TenantLimits(int newKeysPerSecond, int liveMax, int lookUpsPerSecond, Time time) {
        if (newKeysPerSecond < 0 || liveMax < 0 || lookUpsPerSecond < 0) {
            throw new IllegalArgumentException("limits must not be negative; 0 is none");
        }
        this.newKeysPerSecond = newKeysPerSecond;
        this.liveMax = liveMax;
        this.lookUpsPerSecond = lookUpsPerSecond;
        newKeys = buckets(newKeysPerSecond, time);
        lookUps = buckets(lookUpsPerSecond, time);
    }

    private static LoadingCache<String, Bucket> buckets(int perSecond, Time time) {
        TimeMeter meter = new TimeMeter() {
            @Override
            public long currentTimeNanos() {
                return time.nanos();
            }

            @Override
            public boolean isWallClockBased() {
                return false;
            }
        };
        int rate = Math.max(1, perSecond);
        return Caffeine.newBuilder()
                .maximumSize(TENANTS_MAX)
                .build(tenant -> Bucket.builder()
                        .addLimit(limit -> limit.capacity(rate).refillGreedy(rate, Duration.ofSeconds(1)))
                        .withCustomTimePrecision(meter)
                        .build());
    }

    /** What a new key of this tenant would go over, if anything. Takes nothing: the key may turn out to exist. */
    Optional<Problem.Report> check(String tenant) {
        if (liveMax > 0 && live.getOrDefault(tenant, 0) >= liveMax) {
            return Optional.of(Problem.TOO_MANY_LIVE
                    .because("at most " + liveMax + " at once")
                    .retryAfter(RETRY_AFTER_LIVE));
        }
        return newKeysPerSecond == 0
                ? Optional.empty()
                : over(newKeys.get(tenant), false, Problem.TOO_MANY_KEYS, newKeysPerSecond);
    }

    /**
     * An operation began. Racers that were all let in may leave the bucket below zero; later keys pay for that.
     *
     * @return to be run when it has ended
     */
    Runnable began(String tenant, boolean newKey) {
        if (newKey && newKeysPerSecond > 0) {
            newKeys.get(tenant).consumeIgnoringRateLimits(1);
        }
        if (liveMax == 0) {
            // Every request of a tenant would go through one place in the map, for a number that nobody asks for.
            return () -> {};
        }
        live.merge(tenant, 1, Integer::sum);
        AtomicBoolean ended = new AtomicBoolean();
        return () -> {
            if (ended.compareAndSet(false, true)) {
                live.computeIfPresent(tenant, (name, count) -> count == 1 ? null : count - 1);
            }
        };
    }

    /** Takes one look-up, or says what it would go over. */
    Optional<Problem.Report> lookUp(String tenant) {
        return lookUpsPerSecond == 0
                ? Optional.empty()
                : over(lookUps.get(tenant), true, Problem.TOO_MANY_LOOKUPS, lookUpsPerSecond);
    }

    private static Optional<Problem.Report> over(Bucket bucket, boolean take, Problem problem, int perSecond) {
        if (take ? bucket.tryConsume(1) : bucket.getAvailableTokens() > 0) {
            return Optional.empty();
        }
        Duration wait = Duration.ofNanos(bucket.estimateAbilityToConsume(1).getNanosToWaitForRefill());
        return Optional.of(problem.because("at most " + perSecond + " a second").retryAfter(wait));
    }
}
