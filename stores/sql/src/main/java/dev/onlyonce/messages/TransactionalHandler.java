package dev.onlyonce.messages;

import java.sql.Connection;

/**
 * Applies a message: all its effects are in the database with the entries, and commit in the transaction that remembers the message.
 * Called by several threads at once, for messages with different keys.
 *
 * @param <T> the message's value
 */
@FunctionalInterface
public interface TransactionalHandler<T> {
    /**
     * Makes the effect. It may be rolled back and called again, so it must do nothing but statements on this connection; messages leave
     * through the outbox, in the same transaction. Must not commit, roll back or close the connection.
     *
     * @throws Exception if it fails: the effect is undone, and the message is tried again later.
     *     {@link PoisonMessage} makes it a dead letter at once
     */
    void apply(Connection transaction, T value, ReceivedMessage message) throws Exception;
}
