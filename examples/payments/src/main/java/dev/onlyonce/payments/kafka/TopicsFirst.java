package dev.onlyonce.payments.kafka;

import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.sql.Connection;
import java.time.Duration;

/** Publishes nothing until the topics are there: until then an event waits in the outbox. Thread-safe. */
record TopicsFirst(KafkaTopics topics, DeliveryHandler relay) implements DeliveryHandler {
    @Override
    public Delivery deliver(OutboxRow row) throws Exception {
        return topics.create()
                ? relay.deliver(row)
                : new Delivery.NotExecuted("the topics are not there yet, or the broker does not answer");
    }

    @Override
    public Duration keyLifetime() {
        return relay.keyLifetime();
    }

    @Override
    public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws Exception {
        relay.settled(transaction, row, delivery);
    }
}
