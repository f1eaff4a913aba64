package dev.onlyonce.amqp;

import org.jspecify.annotations.Nullable;

/**
 * What is consumed, and how.
 *
 * @param prefetch how many messages may be delivered and not acknowledged
 * @param orderBy messages with the same value of this header stay in order; null for none
 * @param exclusive whether the queue has one consumer at a time
 */
record Source(String queue, int prefetch, @Nullable String orderBy, boolean exclusive) {}
