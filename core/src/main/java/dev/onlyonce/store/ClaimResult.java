package dev.onlyonce.store;

/** The answer to a {@link ClaimRequest}. */
public sealed interface ClaimResult {

    /**
     * The entry is the caller's.
     *
     * @param attempt 1 for a new entry, one more for every claim of a pending or retryable one
     */
    record Claimed(int attempt) implements ClaimResult {}

    /**
     * The key has an entry that the caller cannot take; it was not changed.
     *
     * @param entry as it is now
     */
    record Existing(Entry entry) implements ClaimResult {}

    /**
     * Somebody else holds the row just now (its lock, or an uncommitted entry with this id); this item changed nothing and
     * may be tried again. It says nothing about the other items of the call.
     */
    record Busy() implements ClaimResult {}
}
