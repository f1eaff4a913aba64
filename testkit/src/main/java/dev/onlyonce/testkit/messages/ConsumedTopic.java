package dev.onlyonce.testkit.messages;

import java.util.List;
import java.util.Set;

/** A topic or queue of a real broker, with its dead letters; new for each test. */
public interface ConsumedTopic extends AutoCloseable {
    /**
     * Sends messages, in this order.
     *
     * @throws RuntimeException if the broker or its client refuses one
     */
    void send(List<SentMessage> messages);

    /**
     * Makes the broker deliver messages again that were consumed, as after a lost acknowledgement; no consumer is running. By default they
     * are sent again.
     */
    default void redeliver(List<SentMessage> messages) {
        send(messages);
    }

    /** Starts a consumer. All of a test are in one group. */
    RunningConsumer start(ConsumerSetup setup);

    /** All dead letters so far. Called again and again. */
    List<DeadMessage> dead();

    /** What a handler or decoder throws for a message that can never be applied. */
    RuntimeException poison(String why);

    /** Whether messages with one key stay in order. */
    default boolean isOrdered() {
        return true;
    }

    /** What cannot be sent with this broker; the contract checks that it is refused. */
    default Set<BadInput> unsendable() {
        return Set.of();
    }

    /** The largest body that the contract sends; smaller only if the broker takes no larger one. */
    default int bodyBytesMax() {
        return 10 << 20;
    }

    /** Ends what the test has used. */
    @Override
    void close();
}
