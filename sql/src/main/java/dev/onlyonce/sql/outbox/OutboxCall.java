package dev.onlyonce.sql.outbox;

import org.jspecify.annotations.Nullable;

/**
 * A call that a worker is to make.
 *
 * @param topic which handler makes it; with the client's key it makes the downstream key
 * @param payload what the handler needs; not copied: do not modify it
 * @param orderKey calls of one tenant and topic with the same order key are made one after the other, in the order in which they
 *     were accepted; at most 255 characters. Null: at once, in any order
 */
public record OutboxCall(
        String topic, byte[] payload, @Nullable String orderKey) {

    /** A call without an order. */
    public OutboxCall(String topic, byte[] payload) {
        this(topic, payload, null);
    }

    /** The same call in the order of a key. */
    public OutboxCall inOrder(String key) {
        return new OutboxCall(topic, payload, key);
    }
}
