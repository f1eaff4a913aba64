package dev.onlyonce.spring;

import dev.onlyonce.messages.ReceivedMessage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The message that a container has delivered to the listener on this thread. A listener may take nothing but the payload, so its
 * arguments do not tell the id.
 */
final class CurrentMessage {
    private static final ThreadLocal<@Nullable Delivered> CURRENT = new ThreadLocal<>();

    private CurrentMessage() {}

    /**
     * A message and who consumes it.
     *
     * @param group the consumer group
     * @param topic the topic or queue
     * @param reading reads the message; only a protected listener needs that
     */
    record Delivered(String group, String topic, Supplier<ReceivedMessage> reading) {}

    static void set(Delivered delivered) {
        CURRENT.set(delivered);
    }

    static void clear() {
        CURRENT.remove();
    }

    static @Nullable Delivered get() {
        return CURRENT.get();
    }
}
