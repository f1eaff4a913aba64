package dev.onlyonce.spring.messages;

import dev.onlyonce.messages.ReceivedMessage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The message that a container has delivered to the listener on this thread. A listener may take nothing but the payload, so its
 * arguments do not tell the id.
 */
public final class CurrentMessage {
    private static final ThreadLocal<@Nullable Delivered> CURRENT = new ThreadLocal<>();

    private CurrentMessage() {}

    /**
     * A message and who consumes it.
     *
     * @param group the consumer group
     * @param topic the topic or queue
     * @param reading reads the message; only a protected listener needs that
     */
    public record Delivered(String group, String topic, Supplier<ReceivedMessage> reading) {}

    public static void set(Delivered delivered) {
        CURRENT.set(delivered);
    }

    public static void clear() {
        CURRENT.remove();
    }

    static @Nullable Delivered get() {
        return CURRENT.get();
    }
}
