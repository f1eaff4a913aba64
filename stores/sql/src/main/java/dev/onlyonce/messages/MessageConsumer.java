package dev.onlyonce.messages;

import java.util.Map;

/** A consumer of messages, whatever its broker. Safe for any number of threads. */
public interface MessageConsumer extends AutoCloseable {
    /** Starts to consume. */
    void start();

    /** How many messages went which way. */
    MessageCounts counts();

    /**
     * The handlers of this consumer that take longer than they may, by topic: their threads were interrupted, and still run. If it does not
     * get empty again, a handler has no time-out; only a restart ends its threads.
     */
    Map<String, Integer> hung();

    /** Waits for what is running, within a bound, and leaves the rest to other consumers. */
    @Override
    void close();
}
