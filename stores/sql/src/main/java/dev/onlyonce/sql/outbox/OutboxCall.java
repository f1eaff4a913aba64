package dev.onlyonce.sql.outbox;

import org.jspecify.annotations.Nullable;

/**
 * A call that a worker is to make.
 *
 * @param topic which handler makes it; with the client's key it makes the downstream key
 * @param payload what the handler needs; not copied: do not modify it
 * @param orderKey calls of one tenant and topic with the same order key are made one after the other, in the order in which they
 *     were accepted; at most 255 characters. Null: at once, in any order
 * @param lasting whether it waits for as long as it takes, for its first worker and for each further try. If not, it fails after
 *     {@link Outbox.Builder#pendingMax}, or when its retention is over before the next try: nobody wants to be charged tomorrow
 */
public record OutboxCall(
        String topic, byte[] payload, @Nullable String orderKey, boolean lasting) {

    /** A call without an order. */
    public OutboxCall(String topic, byte[] payload) {
        this(topic, payload, null, false);
    }

    /** The same call in the order of a key. */
    public OutboxCall inOrder(String key) {
        return new OutboxCall(topic, payload, key, lasting);
    }

    /** The same call, however long it waits for a worker: what has happened must be announced. */
    public OutboxCall untilTaken() {
        return new OutboxCall(topic, payload, orderKey, true);
    }
}
