package dev.onlyonce.amqp;

import static java.util.Objects.requireNonNull;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Delivery;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.adapter.DeadLetterHeaders;
import dev.onlyonce.messages.adapter.DeadLetters;
import dev.onlyonce.messages.adapter.PendingMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where messages go that are given up: as they came, with the reason in headers. Used by the thread that consumes alone. */
final class DeadLetterQueue implements DeadLetters<Delivery> {
    private static final int PERSISTENT = 2;
    /** RabbitMQ sends copies to the routing keys in these headers: a dead letter would come back to the queue. */
    private static final Set<String> COPIES = Set.of("CC", "BCC");

    private static final Logger log = LoggerFactory.getLogger(DeadLetterQueue.class);

    private final Publisher publisher;
    private final Destination destination;
    private final String group;
    /** Those that the broker has not confirmed. They go last: one that it never takes must not keep the others waiting. */
    private final Set<PendingMessage<Delivery>> doubtful = new HashSet<>();

    DeadLetterQueue(Publisher publisher, Destination destination, String group) {
        this.publisher = publisher;
        this.destination = destination;
        this.group = group;
    }

    @Override
    public Set<PendingMessage<Delivery>> send(Map<PendingMessage<Delivery>, PoisonMessage> messages) {
        doubtful.retainAll(messages.keySet());
        List<PendingMessage<Delivery>> inTurn = new ArrayList<>(messages.keySet());
        inTurn.sort(Comparator.comparing(doubtful::contains));
        Set<PendingMessage<Delivery>> there = new HashSet<>();
        for (PendingMessage<Delivery> pending : inTurn) {
            Publisher.Answer answer = send(pending, requireNonNull(messages.get(pending)));
            if (answer instanceof Publisher.Confirmed) {
                there.add(pending);
            } else {
                log.error(
                        "The dead letter of {} {} could not be published to {} and is tried again: {}",
                        pending.message().topic(),
                        pending.message().coordinates(),
                        destination,
                        answer);
            }
            if (answer instanceof Publisher.Doubtful) {
                doubtful.add(pending);
                // The others would wait for the same broker.
                break;
            }
        }
        doubtful.removeAll(there);
        return there;
    }

    private Publisher.Answer send(PendingMessage<Delivery> pending, PoisonMessage why) {
        Delivery delivery = pending.record();
        AMQP.BasicProperties properties = delivery.getProperties();
        Map<String, Object> headers = new HashMap<>();
        if (properties.getHeaders() != null) {
            headers.putAll(properties.getHeaders());
        }
        headers.keySet().removeAll(COPIES);
        Map<String, String> added = DeadLetterHeaders.of(pending, why, group);
        headers.putAll(added);
        headers.put(
                DeadLetterHeaders.PREFIX + "exchange", delivery.getEnvelope().getExchange());
        headers.put(
                DeadLetterHeaders.PREFIX + "routing-key", delivery.getEnvelope().getRoutingKey());
        try {
            Publisher.Answer answer = publisher.publish(destination, dead(properties, headers), delivery.getBody());
            if (answer instanceof Publisher.Unsendable) {
                // With the added ones the headers are larger than a frame.
                return publisher.publish(destination, dead(properties, new HashMap<>(added)), delivery.getBody());
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Publisher.Doubtful("interrupted");
        }
    }

    /** It does not expire. The broker refuses a user id that is not this connection's. */
    private static AMQP.BasicProperties dead(AMQP.BasicProperties properties, Map<String, Object> headers) {
        return properties
                .builder()
                .headers(headers)
                .deliveryMode(PERSISTENT)
                .expiration(null)
                .userId(null)
                .build();
    }

    @Override
    public void close() {
        publisher.close();
    }
}
