package dev.onlyonce.messages;

import dev.onlyonce.Claim;

/**
 * Applies a message whose effect is outside the database. Called by many threads at once, for messages with different keys.
 *
 * @param <T> the message's value
 */
@FunctionalInterface
public interface LeasedHandler<T> {
    /**
     * Makes the effect, at most once.
     *
     * @throws Exception what it proves is the operation's policy: {@link dev.onlyonce.NotExecuted} proves that nothing happened, and the
     *     message is tried again; another exception leaves the outcome unknown, which is the reconciler's to find out
     */
    void apply(Claim claim, T value, ReceivedMessage message) throws Exception;
}
