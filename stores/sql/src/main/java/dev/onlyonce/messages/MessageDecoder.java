package dev.onlyonce.messages;

/**
 * Makes a value of a message. Safe for any number of threads.
 *
 * @param <T> the value
 */
@FunctionalInterface
public interface MessageDecoder<T> {
    /** Decodes it. The body is empty for a record without a value. Whatever this throws makes the message a dead letter at once. */
    T decode(ReceivedMessage message) throws Exception;
}
