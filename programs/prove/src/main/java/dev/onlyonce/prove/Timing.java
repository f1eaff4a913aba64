package dev.onlyonce.prove;

import java.time.Duration;

/** The times of a proof. Short, so that much happens in a minute. */
final class Timing {
    static final Duration LEASE = Duration.ofSeconds(1);
    static final Duration SWEEP_EVERY = Duration.ofMillis(300);
    /** How long an answer may be served after its eviction. */
    static final Duration CACHE_FOR = Duration.ofSeconds(1);
    /** Longer than a pause and a call to the ledger. The ledger executes nothing later. */
    static final Duration CALL_MAX = Duration.ofSeconds(5);
    /** The same for a gateway, whose calls have no deadline: a pause, a slow answer, and the time-out. */
    static final Duration PROXIED_CALL_MAX = Duration.ofSeconds(8);
    /** Longer than a lease, so that others act meanwhile. */
    static final Duration PAUSE_MAX = Duration.ofSeconds(4);
    /**
     * When every key must have ended after the last fault: a lease, ten sweeps that wait for the store, the patience, and the pauses of the
     * reconciler, which double (1, 2, 4, 8 s); and a busy machine.
     */
    static final Duration STUCK_MAX = Duration.ofSeconds(45);

    /** On a starved machine seconds say nothing: a key that is stuck is so after this many retries too. */
    static final int STUCK_RETRIES = 100;
    /** When retries end that are so slow that they prove nothing. */
    static final Duration RETRIES_MAX = Duration.ofMinutes(4);

    private Timing() {}
}
