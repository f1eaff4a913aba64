package dev.onlyonce.store;

import java.time.Duration;

/**
 * The part of an operation's policy that is stored with every entry, so that any node can apply it.
 *
 * @param lease how long a claim holds without renewal (for an accepted entry: how long it may stay pending)
 * @param onLeaseLost the next state of the entry when the lease runs out
 * @param retention how long the settled entry answers, counted from settling
 * @param tombstone how long after that the key is remembered without its result; zero for not at all
 */
public record Terms(Duration lease, OnLeaseLost onLeaseLost, Duration retention, Duration tombstone) {
    /** Shorter leases lapse during an ordinary pause of the garbage collector or the network. */
    public static final Duration LEASE_MIN = Duration.ofMillis(100);
    /** Longer leases leave a dead owner's key stuck for longer than anybody waits. */
    public static final Duration LEASE_MAX = Duration.ofDays(1);
    /** Keeps every computed instant inside the range of all databases. */
    public static final Duration RETENTION_MAX = Duration.ofDays(3660);

    /** Checks the bounds; throws {@link IllegalArgumentException}. */
    public Terms {
        if (lease.compareTo(LEASE_MIN) < 0 || lease.compareTo(LEASE_MAX) > 0) {
            throw new IllegalArgumentException(
                    "lease must be between " + LEASE_MIN + " and " + LEASE_MAX + ": " + lease);
        }
        checkRetention("retention", retention);
        checkRetention("tombstone", tombstone);
    }

    private static void checkRetention(String what, Duration duration) {
        if (duration.isNegative() || duration.compareTo(RETENTION_MAX) > 0) {
            throw new IllegalArgumentException(what + " must be between 0 and " + RETENTION_MAX + ": " + duration);
        }
    }
}
