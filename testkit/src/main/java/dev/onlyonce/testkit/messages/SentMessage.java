package dev.onlyonce.testkit.messages;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A message that the contract sends.
 *
 * @param key messages with an equal key stay in order, where the broker keeps an order
 * @param id the header {@code message-id}; null for none. It may be no valid text
 * @param body not copied: do not modify it
 */
public record SentMessage(String key, byte @Nullable [] id, byte[] body) {

    static SentMessage of(String key, String id, String body) {
        return new SentMessage(key, bytes(id), bytes(body));
    }

    /** The same message with another key. */
    SentMessage under(String other) {
        return new SentMessage(other, id, body);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
