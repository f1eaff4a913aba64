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
     * The key has an entry that the caller cannot take, and whose result would hold up the answers to the other items; it was not changed.
     * {@link Store#find} reads it.
     */
    record Large() implements ClaimResult {}

    /**
     * Somebody else holds the row just now (its lock, or an uncommitted entry with this id); this item changed nothing and
     * may be tried again. It says nothing about the other items of the call.
     */
    record Busy() implements ClaimResult {}

    /**
     * The store cannot take this item now: the server that has it is down or overloaded. Nobody is known to hold the row, so the key
     * is not in flight: its caller learns that the store cannot answer. This item changed nothing and may be tried again.
     *
     * @param why for the operator
     */
    record Unavailable(String why) implements ClaimResult {}

    /** For an item that a failure left unchanged, in a call that answers others. */
    static ClaimResult refused(StoreException failure) {
        return failure instanceof StoreBusy ? new Busy() : new Unavailable(String.valueOf(failure.getMessage()));
    }
}
