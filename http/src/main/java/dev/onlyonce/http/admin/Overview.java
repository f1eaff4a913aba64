package dev.onlyonce.http.admin;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A node and its store at a glance.
 *
 * @param at this node's clock; all other times of this API are the store's
 * @param mine what this node has done
 * @param everybody what all nodes share
 */
public record Overview(String at, Mine mine, Everybody everybody) {
    /**
     * What this node has done.
     *
     * @param perSecond decisions of the last 10 to 20 seconds, by kind
     * @param percentiles milliseconds of the last minute: of the claim, the handler and the settlement; those without a measurement are missing
     * @param handlerName what the handler is called here
     * @param lapsedLeases how many of them this node swept in the last hour
     * @param numbers what else the program counts
     */
    public record Mine(
            String node,
            String version,
            String startedAt,
            long uptimeSeconds,
            Map<String, Double> perSecond,
            Map<String, Percentiles> percentiles,
            String handlerName,
            Count lapsedLeases,
            Map<String, Number> numbers) {}

    /** Milliseconds; each up to an eighth too high, because durations are counted in classes. */
    public record Percentiles(double p50, double p95, double p99) {}

    /**
     * What all nodes share.
     *
     * @param seenAt when the store was asked: by this node's clock, up to a minute ago where asking takes long
     * @param states how many keys there are; none while the store does not answer
     * @param deadLetters none if the store has no outbox
     * @param nodes this one, and those that have announced themselves within the last hour
     * @param nodesComplete whether the store keeps a list of them
     */
    public record Everybody(
            String seenAt,
            @Nullable Map<String, Count> states,
            @Nullable Waiting unknown,
            @Nullable Waiting deadLetters,
            StoreView store,
            List<NodeView> nodes,
            boolean nodesComplete) {}

    /**
     * What waits for somebody.
     *
     * @param oldestAt since when the oldest does, as far as it was counted
     */
    public record Waiting(long count, String kind, @Nullable String oldestAt) {}

    /**
     * The store.
     *
     * @param detail why it is not healthy
     * @param failover what a failover of it can lose
     * @param acceptedRisks what it may lose because its owner has accepted that
     */
    public record StoreView(
            String name,
            boolean healthy,
            @Nullable String detail,
            String failover,
            List<String> acceptedRisks,
            AdminOperator.@Nullable SchemaView schema) {}

    /**
     * A node.
     *
     * @param seenAt when it was seen last; none for this one
     * @param here whether it has been seen within the last {@value Glance#HERE_SECONDS} seconds
     */
    public record NodeView(
            String node,
            @Nullable String version,
            @Nullable String startedAt,
            @Nullable String seenAt,
            boolean here,
            boolean me) {}
}
