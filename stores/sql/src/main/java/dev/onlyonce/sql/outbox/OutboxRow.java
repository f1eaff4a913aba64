package dev.onlyonce.sql.outbox;

import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.store.DeadLetterBox;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A call to be made.
 *
 * @param id its number
 * @param key whose operation
 * @param topic which handler makes it
 * @param payload what the handler needs, empty in {@link Outbox#listDead}; not copied: do not modify it
 * @param tries how often it was tried, this time included
 * @param acceptedAt when its entry was accepted, by the database's clock
 * @param firstSentAt since when a call may have reached the provider; empty if none has
 * @param providerId the provider's id, once that is recorded
 * @param dead whether it waits for the reconciler or an operator
 * @param lastError what went wrong last
 * @param orderKey see {@link OutboxCall#orderKey}
 */
public record OutboxRow(
        long id,
        Key key,
        String topic,
        byte[] payload,
        int tries,
        Instant acceptedAt,
        @Nullable Instant firstSentAt,
        @Nullable String providerId,
        boolean dead,
        @Nullable String lastError,
        @Nullable String orderKey) {

    /** A row without an order. */
    public OutboxRow(
            long id,
            Key key,
            String topic,
            byte[] payload,
            int tries,
            Instant acceptedAt,
            @Nullable Instant firstSentAt,
            @Nullable String providerId,
            boolean dead,
            @Nullable String lastError) {
        this(id, key, topic, payload, tries, acceptedAt, firstSentAt, providerId, dead, lastError, null);
    }

    /** The key to send to the provider: every try sends the same one. */
    public String downstreamKey() {
        return DownstreamKey.of(key, topic);
    }

    DeadLetterBox.Letter letter() {
        return new DeadLetterBox.Letter(
                id, key.entryId(), key.operation(), topic, payload, tries, acceptedAt, providerId, lastError);
    }

    /** For logs: without the payload, and with the key shortened. */
    @Override
    public String toString() {
        return "row " + id + " of " + key + " for " + topic + ", try " + tries;
    }
}
