package dev.onlyonce.testkit;

/** The calls of a store. */
public enum Verb {
    /** {@link dev.onlyonce.store.Store#claim} */
    CLAIM,
    /** {@link dev.onlyonce.store.Store#settle} */
    SETTLE,
    /** {@link dev.onlyonce.store.Store#renew} */
    RENEW,
    /** {@link dev.onlyonce.store.Store#find} */
    FIND,
    /** {@link dev.onlyonce.store.Store#sweep} */
    SWEEP,
    /** {@link dev.onlyonce.store.Store#purge} */
    PURGE,
    /** {@link dev.onlyonce.store.Store#resolve} */
    RESOLVE,
    /** {@link dev.onlyonce.store.Store#evict} */
    EVICT,
    /** {@link dev.onlyonce.store.Store#list} */
    LIST,
    /** {@link dev.onlyonce.store.Store#history} */
    HISTORY,
    /** {@link dev.onlyonce.store.Store#audit} */
    AUDIT,
    /** {@link dev.onlyonce.store.Store#purgeAudit} */
    PURGE_AUDIT
}
