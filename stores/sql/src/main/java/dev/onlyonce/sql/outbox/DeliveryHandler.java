package dev.onlyonce.sql.outbox;

import java.sql.Connection;
import java.time.Duration;

/** Makes the calls of one topic. Called by many threads at once. */
@FunctionalInterface
public interface DeliveryHandler {

    /**
     * Calls the provider with {@link OutboxRow#downstreamKey()}, and should give up after a bounded time. An exception is
     * {@link Delivery.Ambiguous}, except for {@link dev.onlyonce.NotExecuted}.
     */
    Delivery deliver(OutboxRow row) throws Exception;

    /**
     * For how long after the first call the provider knows the downstream key again and answers what it answered then.
     * Within it an ambiguous call is made again; zero, the default, if the provider promises nothing.
     */
    default Duration keyLifetime() {
        return Duration.ZERO;
    }

    /**
     * Updates the business data, in the transaction that settles the entry and ends the row. Many rows may share it. It may
     * be rolled back and called again, so it must do nothing but statements on this connection, and must not end the
     * transaction.
     *
     * @param delivery {@link Delivery.Delivered} or {@link Delivery.Refused}: the entry is completed;
     *     {@link Delivery.NotExecuted}: it has failed, because it was given up, nobody took it in time, or its entry has expired or
     *     was evicted. The provider's id is empty if the reconciler or an operator found the result
     * @throws Exception if it cannot: the row is put off, and only recording is tried again, not the call
     */
    default void settled(Connection transaction, OutboxRow row, Delivery delivery) throws Exception {}
}
