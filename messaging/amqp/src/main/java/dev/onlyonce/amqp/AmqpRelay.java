package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.impl.LongStringHelper;
import dev.onlyonce.Codec;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.messages.adapter.CloudEvent;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Publishes messages from the outbox: {@code Outbox.builder(once).handler(AmqpRelay.TOPIC, relay)}. A message leaves when, and only when,
 * the transaction that accepted it commits. It may leave more than once; each time it has the same message id and CloudEvents id, by which
 * an {@link AmqpInbox} applies it once. Its result is that id, as a JSON string.
 *
 * <p>The destination of an {@link OutgoingMessage} is {@code exchange/routingKey} or the name of a queue. The first slash separates. A
 * message is persistent, and counts as published when the broker has confirmed it. Safe for any number of threads.
 */
public final class AmqpRelay implements DeliveryHandler, AutoCloseable {
    /** The outbox's topic, whose handler this is. */
    public static final String TOPIC = "amqp";

    private static final int PERSISTENT = 2;
    private static final String CLOUD_EVENTS = "cloudEvents:";

    private final Publisher publisher;
    private final String source;

    /**
     * With connections of its own.
     *
     * @param factory how to connect: host, credentials, virtual host, TLS. It is copied
     * @param source who publishes, as CloudEvents name it; ids are unique within it
     */
    public AmqpRelay(ConnectionFactory factory, String source) {
        this(factory, "", source);
    }

    /**
     * With connections of its own to a cluster.
     *
     * @param factory how to connect: credentials, virtual host, TLS. It is copied
     * @param addresses the nodes, e.g. {@code "rabbit1:5672,rabbit2:5672"}
     * @param source who publishes, as CloudEvents name it; ids are unique within it
     */
    public AmqpRelay(ConnectionFactory factory, String addresses, String source) {
        this.source = CloudEvent.source(source);
        List<Address> nodes = addresses.isEmpty() ? List.of() : List.of(Address.parseAddresses(addresses));
        this.publisher = new Publisher(new Connections(factory, nodes), "onlyonce outbox " + source);
    }

    @Override
    public Delivery deliver(OutboxRow row) throws Exception {
        OutgoingMessage outgoing = OutgoingMessage.of(row.payload());
        Publisher.Answer answer =
                publisher.publish(Destination.of(outgoing.destination()), properties(outgoing, row), outgoing.body());
        if (answer instanceof Publisher.Confirmed) {
            return new Delivery.Delivered(null, Codec.json(String.class).encode(row.downstreamKey()));
        }
        // Even if it was refused for good: the outbox would forget what is proven not to have been sent.
        return new Delivery.Ambiguous(
                answer instanceof Publisher.Doubtful doubtful ? doubtful.why() : answer.toString());
    }

    private AMQP.BasicProperties properties(OutgoingMessage outgoing, OutboxRow row) {
        Map<String, Object> headers = new HashMap<>();
        CloudEvent.attributes(outgoing, row, source).forEach((name, value) -> headers.put(CLOUD_EVENTS + name, value));
        byte[] key = outgoing.key();
        if (key != null) {
            headers.put(CLOUD_EVENTS + "partitionkey", LongStringHelper.asLongString(key));
        }
        return new AMQP.BasicProperties.Builder()
                .messageId(row.downstreamKey())
                .contentType(outgoing.contentType())
                .deliveryMode(PERSISTENT)
                .headers(headers)
                .build();
    }

    /** Consumers remember ids for this long, so a message may be published again without harm. */
    @Override
    public Duration keyLifetime() {
        return Inbox.RETENTION;
    }

    /** Closes the connection. Close the outbox first. */
    @Override
    public void close() {
        publisher.close();
    }
}
