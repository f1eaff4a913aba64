package dev.onlyonce.store;

/**
 * Why an entry was settled without a value to give.
 *
 * @param code stable, for programs: one of this class's constants, or the application's own
 * @param message for people
 */
public record Failure(String code, String message) {
    /** The entry was accepted for a worker, and nobody took it in time. */
    public static final String PENDING_EXPIRED = "pending_expired";
    /** A worker gave it up after many tries, each of which is proven to have had no effect. */
    public static final String DELIVERY_FAILED = "delivery_failed";
    /** The operation completed, but its result was larger than the limit and was not stored. */
    public static final String RESULT_NOT_STORED = "result_not_stored";
}
