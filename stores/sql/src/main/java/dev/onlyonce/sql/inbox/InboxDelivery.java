package dev.onlyonce.sql.inbox;

import org.jspecify.annotations.Nullable;

/**
 * A message of a batch, and its effect.
 *
 * @param message its name and content
 * @param order messages with an equal order are applied in the order of the batch, and after one that failed no other is tried; null
 *     if its order does not matter
 * @param effect runs once for good; it may be rolled back and run again within a batch, so it must do nothing but statements on its
 *     connection
 */
public record InboxDelivery(InboxMessage message, @Nullable Object order, Inbox.Effect<?> effect) {}
