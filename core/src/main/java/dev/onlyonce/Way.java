package dev.onlyonce;

import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreLimits;

/** The ways to execute an operation. An operation has one: two ways would not see each other's claims in time. */
public enum Way {
    /** An arbitrary action or a call of another service, under a lease: at most once, and reconciled when in doubt. */
    LEASED,
    /** All effects are where the entries are, in an SQL database or in DynamoDB: effect and result commit in one transaction. */
    TRANSACTIONAL,
    /** Several external effects in a row, each recorded: a retry resumes after the last one. */
    STEPPED,
    /** Write first, call later: a worker makes the call. */
    QUEUED,
    /** Messages that are delivered at least once, applied once. */
    INBOX;

    void check(String operation, Store store) {
        StoreLimits limits = store.limits();
        boolean isPossible =
                this == LEASED || limits.transactional() || (this == TRANSACTIONAL && limits.ownTransactions());
        if (!isPossible) {
            throw new IllegalArgumentException(
                    "operation " + operation + " cannot be executed the " + this + " way on a "
                            + store.getClass().getSimpleName()
                            + ", whose entries cannot commit together with rows of an SQL database: use a SqlStore, or the "
                            + (limits.ownTransactions() ? "LEASED or TRANSACTIONAL way" : "LEASED way"));
        }
    }
}
