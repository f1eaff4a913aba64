package dev.onlyonce;

/** The ways to execute an operation. An operation has one: two ways would not see each other's claims in time. */
public enum Way {
    /** An arbitrary action or a call of another service, under a lease: at most once, and reconciled when in doubt. */
    LEASED,
    /** All effects are in one SQL database: claim, effect and result commit in one transaction. */
    TRANSACTIONAL,
    /** Several external effects in a row, each recorded: a retry resumes after the last one. */
    STEPPED,
    /** Write first, call later: a worker makes the call. */
    QUEUED,
    /** Messages that are delivered at least once, applied once. */
    INBOX
}
