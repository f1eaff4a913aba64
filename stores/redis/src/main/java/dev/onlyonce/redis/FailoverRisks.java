package dev.onlyonce.redis;

import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a failover by Sentinel may lose, as far as settings tell. Looked at when a store is opened.
 *
 * @param found empty if nothing
 */
record FailoverRisks(List<String> found) {
    private static final Logger log = LoggerFactory.getLogger(FailoverRisks.class);

    /** INFO has this line if min-replicas-to-write is set. */
    private static final String STOPS_ALONE = "min_slaves_good_slaves:";

    /**
     * Looks at servers and replicas. Without {@code replicas} nobody expects a failover to lose nothing, so that is a warning.
     *
     * @param replicas how many of them acknowledge each change
     * @throws StoreUnavailable if a replica that acknowledges nothing may be promoted, and that was not accepted
     */
    static FailoverRisks of(Link link, int replicas, boolean isRiskAccepted, Duration timeout) {
        OptionalInt promotable = link.promotable();
        if (promotable.orElse(0) <= replicas) {
            return new FailoverRisks(List.of());
        }
        if (replicas == 0) {
            return stopsAlone(link, timeout)
                    ? new FailoverRisks(List.of())
                    : warned("A failover loses what no replica has yet: set min-replicas-to-write to 1 on all servers,"
                            + " or replicas in the URL to " + promotable.getAsInt());
        }
        String risk = "A failover may lose what was acknowledged: Sentinel may promote any of " + promotable.getAsInt()
                + " replicas, and only " + replicas + " of them are waited for. Set replicas in the URL to "
                + promotable.getAsInt() + ", or replica-priority to 0 on the others. One that is gone counts until"
                + " SENTINEL RESET, because it may come back";
        if (!isRiskAccepted) {
            throw new StoreUnavailable(
                    "Redis may lose entries, and then operations run again. " + risk
                            + ". If you accept that, say so with acceptDataLoss",
                    null);
        }
        return warned(risk);
    }

    private static FailoverRisks warned(String risk) {
        log.warn("Redis may lose entries, and then operations run again. {}", risk);
        return new FailoverRisks(List.of(risk));
    }

    private static boolean stopsAlone(Link link, Duration timeout) {
        try {
            return LettuceFutures.awaitOrCancel(
                            link.masters().get(0).async().info("replication"), timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .contains(STOPS_ALONE);
        } catch (RedisException e) {
            throw new StoreUnavailable("Redis cannot be checked: " + e.getMessage(), e);
        }
    }
}
