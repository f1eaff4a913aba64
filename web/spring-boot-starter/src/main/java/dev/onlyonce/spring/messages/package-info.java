/** Listeners of Kafka, RabbitMQ and SQS. Not for applications. */
@NullMarked
package dev.onlyonce.spring.messages;

import org.jspecify.annotations.NullMarked;
