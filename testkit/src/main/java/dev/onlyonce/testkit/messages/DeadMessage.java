package dev.onlyonce.testkit.messages;

import java.util.Map;
import java.util.Optional;

/**
 * A dead letter as the broker has it.
 *
 * @param headers all headers, attributes and properties as text; {@code message-id} is the id of the message
 * @param body empty if it was too large to be sent again
 */
public record DeadMessage(Map<String, String> headers, byte[] body) {

    /** The header with {@code onlyonce-dead-} before this name. */
    String about(String name) {
        return Optional.ofNullable(headers.get("onlyonce-dead-" + name))
                .orElseThrow(() -> new AssertionError("no onlyonce-dead-" + name + " in " + headers));
    }

    String reason() {
        return about("reason");
    }

    String id() {
        return String.valueOf(headers.get("message-id"));
    }
}
