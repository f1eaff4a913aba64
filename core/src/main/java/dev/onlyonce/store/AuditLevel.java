package dev.onlyonce.store;

/**
 * What the audit keeps of an ordinary life: an entry that its owner settled as completed or failed within its lease. While the
 * entry stands, it is its own record at every level. Everything else is recorded at every level, in the same commit: what a
 * sweeper, reconciler or operator did, doubt, late settlements, and the claims of further attempts.
 */
public enum AuditLevel {
    /** The record of an ordinary life outlives its entry. */
    ALL,
    /** The record of an ordinary life ends with its entry, unless an operator evicts that. */
    EXCEPTIONS
}
