/** Kafka: {@link dev.onlyonce.kafka.KafkaInbox} applies each message once, {@link dev.onlyonce.kafka.KafkaRelay} publishes from the outbox. */
@NullMarked
package dev.onlyonce.kafka;

import org.jspecify.annotations.NullMarked;
