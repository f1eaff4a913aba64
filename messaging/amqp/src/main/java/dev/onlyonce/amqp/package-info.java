/**
 * RabbitMQ and other brokers of AMQP 0-9-1: {@link dev.onlyonce.amqp.AmqpInbox} applies each message once,
 * {@link dev.onlyonce.amqp.AmqpRelay} publishes from the outbox.
 */
@NullMarked
package dev.onlyonce.amqp;

import org.jspecify.annotations.NullMarked;
