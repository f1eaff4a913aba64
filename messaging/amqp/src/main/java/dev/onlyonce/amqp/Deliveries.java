package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.LongString;
import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.ReceivedMessage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads deliveries as messages. */
final class Deliveries {
    private static final byte[] NOTHING = {};

    private Deliveries() {}

    /**
     * The headers come first, then the properties under their own names, so that a property wins over a header with its name.
     *
     * @param coordinates for logs: AMQP has no name for a message that stays the same when it is delivered again
     */
    static ReceivedMessage message(String queue, String coordinates, Delivery delivery) {
        List<MessageHeader> headers = new ArrayList<>();
        AMQP.BasicProperties properties = delivery.getProperties();
        if (properties.getHeaders() != null) {
            properties.getHeaders().forEach((name, value) -> headers.add(new MessageHeader(name, bytes(value))));
        }
        properties(delivery).forEach((name, value) -> {
            if (value != null) {
                headers.add(new MessageHeader(name, bytes(value)));
            }
        });
        return new ReceivedMessage(queue, coordinates, headers, delivery.getBody());
    }

    private static Map<String, @Nullable Object> properties(Delivery delivery) {
        AMQP.BasicProperties properties = delivery.getProperties();
        Map<String, @Nullable Object> named = new LinkedHashMap<>();
        named.put("message-id", properties.getMessageId());
        named.put("content-type", properties.getContentType());
        named.put("content-encoding", properties.getContentEncoding());
        named.put("type", properties.getType());
        named.put("app-id", properties.getAppId());
        named.put("correlation-id", properties.getCorrelationId());
        named.put("reply-to", properties.getReplyTo());
        named.put("user-id", properties.getUserId());
        named.put("expiration", properties.getExpiration());
        named.put("priority", properties.getPriority());
        named.put(
                "timestamp",
                properties.getTimestamp() == null
                        ? null
                        : properties.getTimestamp().toInstant());
        named.put("exchange", delivery.getEnvelope().getExchange());
        named.put("routing-key", delivery.getEnvelope().getRoutingKey());
        return named;
    }

    /** Text and bytes as they came; others, also lists and tables, as text. */
    private static byte[] bytes(@Nullable Object value) {
        if (value == null) {
            return NOTHING;
        }
        if (value instanceof LongString text) {
            return text.getBytes();
        }
        return value instanceof byte[] raw ? raw : value.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** The value of a header, by which messages stay in order; null if the message does not have it. */
    static @Nullable Object order(ReceivedMessage message, @Nullable String header) {
        for (int i = message.headers().size() - 1; header != null && i >= 0; i--) {
            MessageHeader each = message.headers().get(i);
            if (each.name().equals(header)) {
                return ByteBuffer.wrap(each.value());
            }
        }
        return null;
    }
}
