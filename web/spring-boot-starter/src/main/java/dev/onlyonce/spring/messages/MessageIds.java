package dev.onlyonce.spring.messages;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads {@code onlyonce.messages.id}. */
final class MessageIds {
    private static final String HEADER = "header:";
    private static final String JSON = "json:";

    private MessageIds() {}

    /** The sources, tried in their order; throws {@link InvalidSettings}. */
    static MessageId parse(List<String> sources) {
        return sources.stream()
                .map(MessageIds::parse)
                .reduce(MessageId::orElse)
                .orElseThrow(() -> invalid("is empty", null));
    }

    private static MessageId parse(String source) {
        try {
            if (source.equals("cloud-event")) {
                return MessageId.cloudEvent();
            }
            if (source.equals("coordinates")) {
                return MessageId.coordinates();
            }
            if (source.startsWith(HEADER) && source.length() > HEADER.length()) {
                return MessageId.header(source.substring(HEADER.length()));
            }
            if (source.startsWith(JSON)) {
                return MessageId.json(source.substring(JSON.length()));
            }
        } catch (IllegalArgumentException e) {
            throw invalid("has \"" + source + "\": " + e.getMessage(), e);
        }
        throw invalid("has \"" + source + "\", which is no source of ids", null);
    }

    private static InvalidSettings invalid(String what, @Nullable Throwable cause) {
        return new InvalidSettings(
                "onlyonce.messages.id " + what,
                "Give one or more of these, separated by commas: cloud-event, header:message-id, json:/order/id,"
                        + " coordinates. Or define a bean of type dev.onlyonce.messages.MessageId.",
                cause);
    }
}
