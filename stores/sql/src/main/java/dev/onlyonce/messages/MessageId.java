package dev.onlyonce.messages;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.filter.FilteringParserDelegate;
import com.fasterxml.jackson.core.filter.JsonPointerBasedFilter;
import com.fasterxml.jackson.core.filter.TokenFilter.Inclusion;
import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;

/**
 * Where the id of a message comes from. Sources are tried in order: {@code cloudEvent().orElse(header("message-id"))}. Safe for any
 * number of threads.
 */
@FunctionalInterface
public interface MessageId {

    /**
     * Finds the identity; empty if the message has no id of this kind.
     *
     * @throws PoisonMessage if it has one that cannot be used
     */
    Optional<MessageIdentity> find(ReceivedMessage message);

    /** The value of a header; unique within the topic. */
    static MessageId header(String name) {
        return message -> message.header(name).map(id -> new MessageIdentity(message.topic(), id));
    }

    /**
     * The id of a CloudEvent in binary mode, unique within its source: the headers {@code ce_id} and {@code ce_source} of Kafka, or
     * {@code cloudEvents:id} and {@code cloudEvents:source} of AMQP, where producers may also write {@code cloudEvents_id} and {@code
     * cloudEvents_source}. In structured mode both are members of the body.
     */
    static MessageId cloudEvent() {
        return message -> {
            String type = message.header("content-type").orElse("").toLowerCase(Locale.ROOT);
            return type.startsWith("application/cloudevents+json")
                    ? member("/id", message)
                            .map(id -> new MessageIdentity(
                                    member("/source", message).orElse(message.topic()), id))
                    : prefixed("ce_", message)
                            .or(() -> prefixed("cloudEvents:", message))
                            .or(() -> prefixed("cloudEvents_", message));
        };
    }

    /**
     * A string or number in a JSON body; unique within the topic.
     *
     * @param pointer a JSON pointer, e.g. {@code /payment/id}
     * @throws IllegalArgumentException if it is no JSON pointer
     */
    static MessageId json(String pointer) {
        JsonPointer.valueOf(pointer);
        return message -> member(pointer, message).map(id -> new MessageIdentity(message.topic(), id));
    }

    /**
     * The broker's own coordinates, e.g. partition, offset and time. The last resort: they recognise a message that is delivered again, not
     * one that its producer sent twice.
     */
    static MessageId coordinates() {
        return message -> Optional.of(new MessageIdentity(message.topic(), message.coordinates()));
    }

    /** Another source, for messages without an id of this kind. */
    default MessageId orElse(MessageId other) {
        return message -> find(message).or(() -> other.find(message));
    }

    /**
     * The identity of a message.
     *
     * @throws PoisonMessage if there is none, or it cannot be used
     */
    default MessageIdentity require(ReceivedMessage message) {
        MessageIdentity identity = find(message)
                .orElseThrow(() -> new PoisonMessage(DeadLetterReason.MISSING_ID, "the message has no id", null));
        try {
            Key.checkValue(identity.id());
        } catch (MalformedKey e) {
            throw new PoisonMessage(DeadLetterReason.MALFORMED_ID, "its id: " + e.getMessage(), e);
        }
        return identity;
    }

    private static Optional<MessageIdentity> prefixed(String prefix, ReceivedMessage message) {
        return message.header(prefix + "id")
                .map(id -> new MessageIdentity(message.header(prefix + "source").orElse(message.topic()), id));
    }

    private static Optional<String> member(String pointer, ReceivedMessage message) {
        JsonPointerBasedFilter filter = new JsonPointerBasedFilter(JsonPointer.valueOf(pointer));
        try (JsonParser parser = new FilteringParserDelegate(
                new JsonFactory().createParser(message.body()), filter, Inclusion.ONLY_INCLUDE_ALL, false)) {
            return parser.nextToken() == null || !parser.currentToken().isScalarValue()
                    ? Optional.empty()
                    : Optional.ofNullable(parser.getValueAsString());
        } catch (IOException e) {
            throw new PoisonMessage(DeadLetterReason.UNDECODABLE, "the body is not JSON, so it has no id", e);
        }
    }
}
