package dev.onlyonce.http;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.onlyonce.Event;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Time;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Counts what every tenant uses of its {@link Limits} on this node. A {@link LimitReservation} takes one request's share. */
final class TenantLimits {
    /** More tenants than this at once on one node share nothing but the risk of a fresh allowance. */
    static final int TENANTS_MAX = 100_000;
    /** What is under way ends on its own; asking again sooner is of no use. */
    private static final Duration RETRY_AFTER_LIVE = Duration.ofSeconds(1);
    /** Room appears when entries expire, which takes hours rather than seconds. */
    private static final Duration RETRY_AFTER_STORED = Duration.ofMinutes(1);

    /** No tenant has this name. */
    private static final String ALL = "";

    private final Limits max;
    private final boolean together;
    private final Onlyonce once;
    private final LoadingCache<String, Bucket> newKeys;
    private final LoadingCache<String, Bucket> lookUps;
    private final StoredKeys stored;
    private final Map<String, Integer> live = new ConcurrentHashMap<>();

    TenantLimits(Limits max, boolean together, Onlyonce once) {
        this.max = max;
        this.together = together;
        this.once = once;
        newKeys = buckets(max.newKeysPerSecond(), once.registry().time());
        lookUps = buckets(max.lookUpsPerSecond(), once.registry().time());
        stored = new StoredKeys(
                max.storedMax(), tenant -> count(once, tenant), once.registry().time());
    }

    private int count(Onlyonce once, String tenant) {
        return tenant.equals(ALL)
                ? once.operator().countStored(max.storedMax())
                : once.operator().countStored(tenant, max.storedMax());
    }

    private String whose(String tenant) {
        return together ? ALL : tenant;
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

    /** The share of one request, nothing reserved yet. */
    LimitReservation reservation(String tenant) {
        return new LimitReservation(max.limitsKeys() ? this : null, whose(tenant), tenant);
    }

    /** Takes one of the executions at once; returns false and takes nothing if all are taken. */
    boolean takeLive(String tenant) {
        if (max.liveMax() == 0) {
            return true;
        }
        boolean[] taken = {false};
        live.compute(tenant, (name, count) -> {
            int now = count == null ? 0 : count;
            taken[0] = now < max.liveMax();
            return taken[0] ? Integer.valueOf(now + 1) : count;
        });
        return taken[0];
    }

    void forceLive(String tenant) {
        if (max.liveMax() > 0) {
            live.merge(tenant, 1, Integer::sum);
        }
    }

    void giveLive(String tenant) {
        if (max.liveMax() > 0) {
            live.computeIfPresent(tenant, (name, count) -> count == 1 ? null : count - 1);
        }
    }

    boolean takeNewKey(String tenant) {
        return max.newKeysPerSecond() == 0 || newKeys.get(tenant).tryConsume(1);
    }

    void spendNewKey(String tenant, boolean reserved) {
        if (max.newKeysPerSecond() > 0 && !reserved) {
            newKeys.get(tenant).consumeIgnoringRateLimits(1);
        }
    }

    void giveNewKey(String tenant) {
        if (max.newKeysPerSecond() > 0) {
            newKeys.get(tenant).addTokens(1);
        }
    }

    boolean takeStored(String tenant) {
        return max.storedMax() == 0 || stored.reserve(tenant);
    }

    void spendStored(String tenant, boolean reserved) {
        if (max.storedMax() > 0) {
            stored.spend(tenant, reserved);
        }
    }

    void giveStored(String tenant) {
        if (max.storedMax() > 0) {
            stored.giveBack(tenant);
        }
    }

    /** For operators: who runs into limits. */
    void tell(String tenant) {
        once.registry().publish(new Event.Limited(tenant));
    }

    Problem.Report overLive() {
        return Problem.TOO_MANY_LIVE
                .because("at most " + max.liveMax() + " at once")
                .retryAfter(RETRY_AFTER_LIVE);
    }

    Problem.Report overStored() {
        return Problem.TOO_MANY_STORED
                .because("at most " + max.storedMax() + " are kept")
                .retryAfter(RETRY_AFTER_STORED);
    }

    Problem.Report overNewKeys(String tenant) {
        return over(newKeys.get(tenant), Problem.TOO_MANY_KEYS, max.newKeysPerSecond());
    }

    /** Takes one look-up, or says what it would go over. */
    Optional<Problem.Report> lookUp(String tenant) {
        if (max.lookUpsPerSecond() == 0 || lookUps.get(whose(tenant)).tryConsume(1)) {
            return Optional.empty();
        }
        return Optional.of(over(lookUps.get(whose(tenant)), Problem.TOO_MANY_LOOKUPS, max.lookUpsPerSecond()));
    }

    private static Problem.Report over(Bucket bucket, Problem problem, int perSecond) {
        Duration wait = Duration.ofNanos(bucket.estimateAbilityToConsume(1).getNanosToWaitForRefill());
        return problem.because("at most " + perSecond + " a second").retryAfter(wait);
    }
}
