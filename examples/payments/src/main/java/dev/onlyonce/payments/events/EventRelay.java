package dev.onlyonce.payments.events;

import dev.onlyonce.sql.outbox.DeliveryHandler;

/**
 * Who takes the events from the outbox. It is no {@link DeliveryHandler} itself, because the starter would give that to its own outbox,
 * which is less patient.
 *
 * @param handler takes an event
 */
public record EventRelay(DeliveryHandler handler) {}
