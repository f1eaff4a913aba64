package dev.onlyonce.store;

import java.time.Instant;
import java.util.Optional;

/** What upkeep looks for. A table that keeps {@link #at} in a column with an index finds it without reading every entry. */
public enum Due {
    /** A claim or an acceptance whose lease has ended: {@link #at} has come. */
    LEASE,
    /** A lease that ends later than one from now, because the clock was ahead: {@link #at} has not come. */
    FAR_LEASE,
    /** An answer past its retention, or a tombstone past its own: {@link #at} has come. */
    RETENTION;

    /** The instant that says whether the entry is due; empty if it cannot become due as it is. */
    public Optional<Instant> at(Entry stored) {
        boolean isOpen = stored.state() == State.PENDING || stored.state() == State.PROCESSING;
        return switch (this) {
            case LEASE -> isOpen ? Optional.of(stored.leaseUntil()) : Optional.empty();
            case FAR_LEASE ->
                isOpen ? Optional.of(stored.leaseUntil().minus(stored.terms().lease())) : Optional.empty();
            case RETENTION ->
                stored.state() == State.EXPIRED ? Life.goneAt(stored) : Optional.ofNullable(stored.expiresAt());
        };
    }

    /** Whether the entry is due, for tables that read every entry. */
    public boolean isDue(Entry stored, StoreTime now) {
        return at(stored)
                .filter(at -> this == FAR_LEASE ? at.isAfter(now.latest()) : now.isAt(at))
                .isPresent();
    }
}
