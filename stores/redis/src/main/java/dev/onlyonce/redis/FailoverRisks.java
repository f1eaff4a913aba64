package dev.onlyonce.redis;

import dev.onlyonce.store.StoreRefused;
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
 * What a failover by Sentinel or in a cluster may lose, as far as settings and numbers tell. Looked at when a store is opened, and before
 * each sweep: replicas join while it runs.
 */
final class FailoverRisks {
    private static final Logger log = LoggerFactory.getLogger(FailoverRisks.class);

    /** INFO has this line if min-replicas-to-write is set. */
    private static final String STOPS_ALONE = "min_slaves_good_slaves:";

    private final Link link;
    private final int replicas;
    private final boolean isRiskAccepted;
    /** Why the store must not be used, until somebody answers that it may. */
    private boolean isRefused; // guarded by this

    private volatile List<String> found = List.of();

    /**
     * Looks at nothing yet.
     *
     * @param replicas how many of them acknowledge each change
     */
    FailoverRisks(Link link, int replicas, boolean isRiskAccepted) {
        this.link = link;
        this.replicas = replicas;
        this.isRiskAccepted = isRiskAccepted;
    }

    /** What was found and accepted. */
    List<String> found() {
        return found;
    }

    /**
     * Looks at servers and replicas. Those that are gone count: they may come back at any time. Without {@code replicas} nobody expects a
     * failover to lose nothing, so that is a warning.
     *
     * @throws StoreUnavailable if a replica that acknowledges nothing may be promoted, and that was not accepted
     */
    void open(Duration timeout) {
        int promotable = link.promotable(true).orElse(0);
        if (promotable <= replicas) {
            return;
        }
        if (replicas == 0) {
            if (!stopsAlone(timeout)) {
                warn("A failover loses what no replica has yet: set min-replicas-to-write to 1 on all servers,"
                        + " or replicas in the URL to " + promotable);
            }
            return;
        }
        String risk = risk(promotable)
                + ". One that is gone counts until SENTINEL RESET or CLUSTER FORGET, because it may come back";
        if (!isRiskAccepted) {
            throw new StoreUnavailable(refusal(risk), null);
        }
        warn(risk);
    }

    /**
     * Looks again at replicas that are there. Without an answer, the last one holds.
     *
     * @throws StoreRefused if one that acknowledges nothing may be promoted, and that was not accepted
     */
    synchronized void again() {
        if (replicas == 0 || isRiskAccepted) {
            return;
        }
        OptionalInt promotable = link.promotable(false);
        isRefused = promotable.isPresent() ? promotable.getAsInt() > replicas : isRefused;
        if (isRefused) {
            throw new StoreRefused(refusal(risk(promotable.orElse(replicas + 1))), null);
        }
    }

    private String risk(int promotable) {
        return "A failover may lose what was acknowledged: any of " + promotable
                + " replicas may be promoted, and only "
                + replicas + " of them are waited for. Set replicas in the URL to " + promotable
                + ", or on the others replica-priority to 0, in a cluster cluster-replica-no-failover to yes";
    }

    private static String refusal(String risk) {
        return "Redis may lose entries, and then operations run again. " + risk
                + ". If you accept that, say so with acceptDataLoss";
    }

    private void warn(String risk) {
        log.warn("Redis may lose entries, and then operations run again. {}", risk);
        found = List.of(risk);
    }

    private boolean stopsAlone(Duration timeout) {
        try {
            return LettuceFutures.awaitOrCancel(
                            link.masters().get(0).async().info("replication"), timeout.toNanos(), TimeUnit.NANOSECONDS)
                    .contains(STOPS_ALONE);
        } catch (RedisException e) {
            throw new StoreUnavailable("Redis cannot be checked: " + e.getMessage(), e);
        }
    }
}
