package dev.onlyonce.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The calls that workers have given up, as operators see them. Every method throws {@link StoreException} when the store fails. */
public interface DeadLetterBox {
    /**
     * A call that was given up.
     *
     * @param id its number; they grow
     * @param entry whose call it is
     * @param payload what the handler needs, empty in {@link #letters}; may be confidential. Not copied: do not modify it
     * @param acceptedAt when its entry was accepted, by the store's clock
     * @param providerId the provider's id, once that is recorded
     */
    record Letter(
            long id,
            EntryId entry,
            String operation,
            String topic,
            byte[] payload,
            int tries,
            Instant acceptedAt,
            @Nullable String providerId,
            @Nullable String lastError) {}

    /** In the order of their numbers, those above {@code after}; without payloads, which might not fit into memory. */
    List<Letter> letters(long after, int limit);

    /** One dead letter, with its payload. */
    Optional<Letter> letter(long id);

    /** How many calls wait and how many were given up; each count stops at {@code max}. */
    OutboxCounts counts(int max);

    /**
     * Gives a dead letter all its tries again.
     *
     * @return whether it was a dead letter
     */
    boolean retry(long id, String who, String reason);

    /**
     * Forgets a dead letter. Its entry stays as it is, most likely unknown, and is the operator's to resolve.
     *
     * @return whether it was a dead letter
     */
    boolean drop(long id, String who, String reason);
}
