package dev.onlyonce.payments.faults;

/** What a network does to a request and its answer. */
public enum NetworkFault {
    /** The connection is reset before the request reaches the server. */
    RESET_REQUEST,
    /** The request reaches the server; the connection is reset before the answer reaches the client. */
    RESET_ANSWER,
    /** The request reaches the server; the connection is closed in order, without an answer. */
    DROP_ANSWER,
    /** The client gets the first half of the first piece of the answer, then a reset. */
    CUT_ANSWER
}
