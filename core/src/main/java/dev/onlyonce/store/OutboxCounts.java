package dev.onlyonce.store;

import java.time.Duration;

/**
 * What the outbox of a store has to do, for gauges. Each count stops at a bound.
 *
 * @param waiting calls that are to be delivered, or are being delivered
 * @param dead calls that wait for the reconciler or an operator
 * @param oldest how long the oldest of those that wait has waited, by the store's clock; zero without one
 */
public record OutboxCounts(int waiting, int dead, Duration oldest) {
    /** There is nothing to do, or no outbox. */
    public static final OutboxCounts NONE = new OutboxCounts(0, 0, Duration.ZERO);
}
