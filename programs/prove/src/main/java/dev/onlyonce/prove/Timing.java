package dev.onlyonce.prove;

import java.time.Duration;

/** The times of a proof. Short, so that much happens in a minute. */
final class Timing {
    /** The name of a system property: how many times as long all times are, for machines that are slow. */
    static final String PACE = "prove.pace";

    static final int PACE_MAX = 5;
    private static final long TIMES = Integer.getInteger(PACE, 1);

    static final Duration LEASE = Duration.ofSeconds(TIMES);
    static final Duration SWEEP_EVERY = Duration.ofMillis(300 * TIMES);
    /** How long an answer may be served after its eviction. */
    static final Duration CACHE_FOR = Duration.ofSeconds(TIMES);
    /** Longer than a pause and a call to the ledger. The ledger executes nothing later. */
    static final Duration CALL_MAX = Duration.ofSeconds(5 * TIMES);
    /** The same for a gateway, whose calls have no deadline: a pause, a slow answer, and the time-out. */
    static final Duration PROXIED_CALL_MAX = Duration.ofSeconds(8 * TIMES);
    /** Longer than a lease, so that others act meanwhile. */
    static final Duration PAUSE_MAX = Duration.ofSeconds(4 * TIMES);
    /**
     * How many polite retries after the last fault a key may take to end, a second apart. On an idle machine that is 45 s: a lease, ten sweeps
     * that wait for the store, the patience, and the pauses of the reconciler, which double (1, 2, 4, 8 s). A busy machine answers slowly, and
     * gives a key more time.
     */
    static final int STUCK_RETRIES = 45;

    static final Duration RETRY_EVERY = Duration.ofSeconds(TIMES);
    /** Retries that are so slow that they prove nothing end then. */
    static final Duration RETRIES_MAX = Duration.ofMinutes(6);
    /** Clients give up and try again. */
    static final Duration ANSWER_MAX = Duration.ofSeconds(6 * TIMES);
    /** When nothing fails any more they wait longer: a busy machine is slow, and that is no fault. */
    static final Duration ANSWER_MAX_AFTERWARDS = Duration.ofSeconds(20 * TIMES);
    /** Until all nodes have come up. */
    static final Duration UP_MAX = Duration.ofMinutes(8);

    private Timing() {}
}
