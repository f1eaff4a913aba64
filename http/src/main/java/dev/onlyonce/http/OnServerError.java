package dev.onlyonce.http;

/**
 * What a handler's failure says about the effect. A 5xx that it answers is its own word; a 502, a 504 or an exception merely
 * happened to it.
 */
public enum OnServerError {
    /** A 5xx says that it did not happen: the next retry runs again. A 502, a 504 or an exception says nothing: unknown. */
    RETRY,
    /**
     * Each of them says that it did not happen, exceptions too: the next retry runs again. Only for handlers that always undo
     * their work when they fail; for all others it can run an effect twice.
     */
    RETRY_ALWAYS,
    /** Nothing, but it is the answer: every retry gets it. */
    STORE,
    /** Nothing: the outcome is unknown and is reconciled. For handlers that call other services. */
    UNKNOWN
}
