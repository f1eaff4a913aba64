package dev.onlyonce.messages.adapter;

import dev.onlyonce.messages.PoisonMessage;
import java.util.Map;
import java.util.Set;

/**
 * Where messages go that are given up: as they came, with the reason in headers. Used by the thread that consumes alone.
 *
 * @param <R> what the broker delivered
 */
public interface DeadLetters<R> extends AutoCloseable {
    /**
     * Sends them and waits for the broker's acknowledgements, within a bound.
     *
     * @return those that were acknowledged; the others are tried again
     */
    Set<PendingMessage<R>> send(Map<PendingMessage<R>, PoisonMessage> messages);

    @Override
    void close();
}
