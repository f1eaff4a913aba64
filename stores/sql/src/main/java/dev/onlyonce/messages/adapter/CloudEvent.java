package dev.onlyonce.messages.adapter;

import dev.onlyonce.Key;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.util.LinkedHashMap;
import java.util.Map;

/** The attributes with which a message is published. */
public final class CloudEvent {
    private CloudEvent() {}

    /**
     * Returns the source if it is one.
     *
     * @throws IllegalArgumentException if it is empty, longer than 255 characters, or has control characters: consumers would make
     *     dead letters of all its messages
     */
    public static String source(String source) {
        Key.checkName("source", source);
        return source;
    }

    /**
     * The attributes by their names; each broker has a prefix of its own for them. The id is the same each time a row is delivered.
     *
     * @param source who publishes; ids are unique within it
     */
    public static Map<String, String> attributes(OutgoingMessage message, OutboxRow row, String source) {
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("specversion", "1.0");
        attributes.put("id", row.downstreamKey());
        attributes.put("source", source);
        attributes.put("type", message.type());
        attributes.put("time", row.acceptedAt().toString());
        return attributes;
    }
}
