package dev.onlyonce.testkit.messages;

import dev.onlyonce.Onlyonce;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a consumer is to be built. Its ids come from the header {@code message-id}, its values from {@link #decode}.
 *
 * @param once what the consumer is built on
 * @param effect the handler of each message
 * @param leased whether the handler is a leased one, of the operation {@link #OPERATION}; else it is transactional
 * @param triesMax how often a message is tried
 * @param handlerMax the longest time that the handler may take
 */
public record ConsumerSetup(Onlyonce once, Effect effect, boolean leased, int triesMax, Duration handlerMax) {
    /** The operation of leased handlers. */
    public static final String OPERATION = "ship";
    /** The largest body that is applied. */
    public static final int BODY_BYTES_MAX = 64 << 10;
    /** The pause after the first failure; a broker that counts in seconds rounds it up. */
    public static final Duration PAUSE_FIRST = Duration.ofMillis(50);
    /** The longest pause. */
    public static final Duration PAUSE_LONGEST = Duration.ofMillis(200);
    /** For how long a message that fails may keep those behind it waiting: longer than a test waits for anything. */
    public static final Duration BLOCK_MAX = Duration.ofMinutes(10);

    static final String UNDECODABLE = "undecodable";

    /** What a message does. */
    @FunctionalInterface
    public interface Effect {
        /**
         * Applies a message.
         *
         * @param transaction of a transactional handler; null for a leased one
         * @throws Exception passed to the consumer as the handler's own
         */
        void apply(@Nullable Connection transaction, String body) throws Exception;
    }

    /** The decoder. */
    public static String decode(byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8);
        if (text.equals(UNDECODABLE)) {
            throw new IllegalArgumentException("what is\nthis?");
        }
        return text;
    }
}
