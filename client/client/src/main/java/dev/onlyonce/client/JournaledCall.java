package dev.onlyonce.client;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A call as the journal keeps it.
 *
 * @param id the business id
 * @param key the key, the same for every attempt
 * @param request what to send, without secrets
 * @param progress how far it is
 */
public record JournaledCall(String id, String key, CallRequest request, Progress progress) {
    /** The most characters of an id. */
    public static final int ID_LENGTH_MAX = 255;

    /**
     * How far a call is.
     *
     * @param createdAt when it was made
     * @param sent by whom and when; null if nothing was ever sent
     * @param keyExpiresAt when the server forgets the key; null if it has not said so
     * @param answer the definitive answer; null while there is none
     */
    public record Progress(
            Instant createdAt,
            @Nullable Sent sent,
            @Nullable Instant keyExpiresAt,
            @Nullable CallResponse answer) {

        /** Of a call that nobody has answered, sent by one sender at this time, or not at all. */
        public Progress(Instant createdAt, @Nullable Instant sentAt) {
            this(createdAt, sentAt == null ? null : new Sent(sentAt, sentAt, 1), null, null);
        }

        /** When the first attempt began; null if nothing was ever sent. */
        public @Nullable Instant sentAt() {
            return sent == null ? null : sent.first();
        }
    }

    /**
     * The sendings of a call.
     *
     * @param first when the first sender began; its attempts decide how old the key is
     * @param latest the latest time at which a sender began. A clock that is behind it was set back
     * @param senders how many senders have begun since it was known that there was no effect: processes, or resumptions in one
     */
    public record Sent(Instant first, Instant latest, int senders) {}

    /** Throws {@link IllegalArgumentException} if the id or the key cannot be stored. */
    public JournaledCall {
        if (id.isBlank()
                || id.length() > ID_LENGTH_MAX
                || id.chars().anyMatch(Character::isISOControl)
                || !StandardCharsets.UTF_8.newEncoder().canEncode(id)) {
            throw new IllegalArgumentException("A business id has 1 to " + ID_LENGTH_MAX
                    + " characters and no control characters; use for example order-42/pay");
        }
        if (key.isEmpty() || key.length() > ID_LENGTH_MAX || !key.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new IllegalArgumentException(
                    "The key source made a key that is not 1 to 255 visible ASCII characters");
        }
    }

    /** Leaves out the query and all of the key but its beginning. */
    @Override
    public String toString() {
        return id + " (" + request.method() + " " + request.place() + ", key "
                + key.substring(0, Math.min(4, key.length())) + "…)";
    }
}
