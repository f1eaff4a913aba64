package dev.onlyonce.sql.outbox;

import dev.onlyonce.store.EntryId;
import org.jspecify.annotations.Nullable;

/**
 * A row as it was when it was taken.
 *
 * @param entryAt the created_at of its entry
 * @param firstSentAt as stored before it was taken; null if no call was made
 * @param answer the provider's recorded answer, if there is one
 * @param lasting whether its entry must not expire before the call is made: {@link OutboxCall#lasting}
 * @param takenAt the database's clock
 */
record StoredRow(
        OutboxRow row,
        EntryId entry,
        long entryAt,
        @Nullable Long firstSentAt,
        @Nullable Delivery answer,
        boolean lasting,
        long takenAt) {

    /** What it takes up in memory: what the application and the provider wrote. */
    long bytes() {
        long answered = answer instanceof Delivery.Delivered delivered
                ? delivered.result().length
                : answer instanceof Delivery.Refused refused ? refused.result().length : 0;
        return row.payload().length + answered;
    }
}
