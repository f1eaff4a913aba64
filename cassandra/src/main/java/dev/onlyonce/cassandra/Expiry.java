package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Change.Ttl;
import dev.onlyonce.store.State;
import java.time.Duration;

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

    Ttl ttl(StoredEntry entry, long now) {
        Long end = entry.end();
        Long expires = entry.standing().expires();
        if (end == null || expires == null || tolerance.isZero()) {
            return Ttl.NONE;
        }
        long seconds = Micros.seconds(Math.max(0, end - now)) + tolerance.toSeconds();
        long result = Micros.seconds(Math.max(0, expires - now)) + tolerance.toSeconds();
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
