package dev.onlyonce.payments.provider;

/** What the provider can do wrong, or late. */
public enum Fault {
    /** The card is declined. Decided once for each idempotency key, as a bank would. */
    DECLINE,
    /** The call is held up before anything else happens. */
    DELAY,
    /** 500, and nothing was charged. */
    ERROR_BEFORE,
    /** 500, although the charge was made. */
    ERROR_AFTER,
    /** The charge is made; the connection is closed without an answer. */
    DROP_AFTER,
    /** The connection is reset, and nothing was charged. */
    RESET_BEFORE,
    /** The charge is made; the connection is reset before the answer. */
    RESET_AFTER,
    /** The webhook comes late. */
    WEBHOOK_LATE,
    /** The webhook comes twice. */
    WEBHOOK_TWICE,
    /** The webhook never comes. */
    WEBHOOK_NEVER,
    /** The webhook that ends a movement comes before the one that announces it. */
    WEBHOOK_SWAPPED,
    /** Before the webhook comes one by somebody who does not have the secret and turns its message around. */
    WEBHOOK_FORGED,
    /** 500 to who asks what was made under a key. */
    LOOKUP_ERROR
}
