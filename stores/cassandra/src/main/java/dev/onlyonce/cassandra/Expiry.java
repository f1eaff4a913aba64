package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Change.Ttl;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * How long Cassandra keeps a settled entry by itself: longer than its retention and tombstone by as much as the clocks of the cluster's
 * nodes may differ. An entry that vanished early would let its operation run again.
 *
 * @param tolerance zero: no TTL, entries stay until they are purged
 */
record Expiry(Duration tolerance) {
    /** Cassandra 4.1 takes no date after January 2038. Entries that are to stay for longer than this are purged by the nodes. */
    private static final long TTL_SECONDS_MAX = Duration.ofDays(3660).toSeconds();
    /** A cell is gone up to a second after its TTL. */
    private static final Duration ROUNDING = Duration.ofSeconds(5);

    /**
     * Checks that no entry vanishes early.
     *
     * @param spread by how much the clocks of the cluster's nodes differ, in microseconds
     * @throws StoreUnavailable if it may
     */
    void check(long spread) {
        if (!tolerance.isZero() && spread > Micros.of(tolerance)) {
            throw new StoreUnavailable(
                    "The clocks of Cassandra's nodes differ by " + Duration.of(spread, ChronoUnit.MICROS)
                            + ", more than clockTolerance=" + tolerance
                            + ": a node would take entries for expired and let their operations run again. Set its clock right, or stop it",
                    null);
        }
    }

    Ttl ttl(StoredEntry entry, long now) {
        Long end = entry.end();
        Long expires = entry.standing().expires();
        if (end == null || expires == null || tolerance.isZero()) {
            return Ttl.NONE;
        }
        // At least a second: a TTL of zero is none, and a result that never expired would keep its key from being
        // used again.
        long margin = Micros.seconds(Micros.of(tolerance));
        long seconds = Micros.seconds(Math.max(0, end - now)) + margin;
        long result = Micros.seconds(Math.max(0, expires - now)) + margin;
        return seconds > TTL_SECONDS_MAX ? Ttl.NONE : new Ttl((int) seconds, (int) Math.min(seconds, result));
    }

    /** When the purge is to look at a purgeable entry: if it has a TTL, when Cassandra has removed it. */
    long purgeAt(StoredEntry entry, Ttl ttl) {
        Long end = entry.end();
        Long expires = entry.standing().expires();
        if (end == null || expires == null) {
            throw new IllegalStateException("it does not expire: " + entry.state());
        }
        if (ttl.entry() > 0) {
            return end + Micros.of(tolerance.plus(ROUNDING));
        }
        return entry.state() == State.EXPIRED ? end : expires;
    }
}
