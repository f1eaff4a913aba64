package dev.onlyonce.http;

/** What a response with a status of 500 and above, or an exception of the handler, says about the effect. */
public enum OnServerError {
    /** That it did not happen: the next retry runs again. For handlers that undo their work when they fail. */
    RETRY,
    /** Nothing, but it is the answer: every retry gets it. */
    STORE,
    /** Nothing: the outcome is unknown and is reconciled. For handlers that call other services. */
    UNKNOWN
}
