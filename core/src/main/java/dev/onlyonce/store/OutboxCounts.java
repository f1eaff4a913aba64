package dev.onlyonce.store;

import java.time.Instant;
import java.util.Optional;

/**
 * What the outbox of a store has to do, for gauges. Each count stops at a bound.
 *
 * @param waiting calls that are to be delivered, or are being delivered
 * @param dead calls that wait for the reconciler or an operator
 * @param oldestAt when the oldest of those that wait was accepted, by the store's clock; empty without one
 */
public record OutboxCounts(int waiting, int dead, Optional<Instant> oldestAt) {
    /** There is nothing to do, or no outbox. */
    public static final OutboxCounts NONE = new OutboxCounts(0, 0, Optional.empty());
}
