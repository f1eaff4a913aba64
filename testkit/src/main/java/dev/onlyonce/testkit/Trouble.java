package dev.onlyonce.testkit;

/** What can go wrong in a {@link Simulation}. */
enum Trouble {
    /** Machines crash; calls and answers are lost, late or slow; single machines are cut off; clocks are wrong. */
    FAILURES,
    /** Somebody else locks rows for a while. */
    LOCKED_ROWS,
    /** Callers are interrupted before they ask, or while they act. */
    INTERRUPTS,
    /** The store's code breaks with an {@link Error}. */
    ERRORS,
    /** The store is out for longer than a lease. */
    OUTAGES,
    /** An operator evicts settled entries, even while others run. */
    EVICTIONS
}
