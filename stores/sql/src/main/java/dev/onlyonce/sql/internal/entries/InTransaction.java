package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.Policy;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Statements inside a transaction that somebody else has begun and will end. They leave its settings as they were. */
public interface InTransaction {
    /**
     * How long something may take.
     *
     * @param waitMax how long to wait for another transaction that has the entry
     * @param heldMax how long the transaction may then be idle, where the database can bound it for this transaction: a process that stops
     *     inside of it must not hold the entry for ever
     */
    record Bounds(Duration waitMax, Duration heldMax) {
        /** Those of a policy. */
        public static Bounds of(Policy policy) {
            return new Bounds(policy.waitMax(), policy.heldMax());
        }
    }

    /**
     * Whether somebody else's open transaction is just making this entry, where an insert could only find out by waiting for
     * long. The connection is in auto-commit mode; nothing is decided by it but not to wait.
     */
    default boolean isBeingMade(Connection connection, EntryId id) throws SQLException {
        return false;
    }

    /** Whether this transaction is shown what others have not committed: no answer may rest on that. */
    default boolean readsUncommitted(Connection connection) throws SQLException {
        return false;
    }

    /**
     * Makes a new entry. Waits no longer than told for a transaction that is making the same one.
     *
     * @return its attempt; empty if there is one already
     */
    Optional<Integer> insert(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException;

    /**
     * Makes many new entries, in one statement where the database can. Waits no longer than told for each transaction that is making one
     * of them.
     *
     * @param claims sorted by id, each id once, not empty
     * @return the attempts of those that were made
     */
    default Map<EntryId, Integer> insertAll(Connection connection, List<ClaimRequest> claims, Bounds bounds)
            throws SQLException {
        Map<EntryId, Integer> attempts = new HashMap<>();
        for (ClaimRequest claim : claims) {
            insert(connection, claim, bounds).ifPresent(attempt -> attempts.put(claim.id(), attempt));
        }
        return attempts;
    }

    /**
     * Makes many new entries that are completed at once, where the database can: half the work of making and settling them. The caller
     * makes the effects afterwards and rolls back if one fails.
     *
     * @param claims sorted by id, each id once, not empty
     * @param settlements how each is completed, in the same order
     * @return those that were made; empty if it cannot: make and settle them
     */
    default Optional<Map<EntryId, SettleResult.Settled>> insertCompleted(
            Connection connection, List<ClaimRequest> claims, List<Settlement> settlements, Bounds bounds)
            throws SQLException {
        return Optional.empty();
    }

    /** Reads many entries that are not past everything, in one statement where the database can. */
    default Map<EntryId, Entry> findAll(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Entry> found = new HashMap<>();
        for (EntryId id : ids) {
            find(connection, id).ifPresent(entry -> found.put(id, entry));
        }
        return found;
    }

    /** Reads an entry that is not past everything. */
    Optional<Entry> find(Connection connection, EntryId id) throws SQLException;

    /**
     * Takes an entry that is free, or starts one again that is past retention and tombstone, as {@link LifeChanges#claim}. Waits no longer
     * than told for another transaction that has the entry.
     *
     * @return its attempt; empty if it is neither
     */
    Optional<Integer> take(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException;

    /**
     * Settles many claims and resolves many unknown entries, as the last statements of a transaction: it may leave the
     * transaction's settings changed. Both lists are sorted by id.
     *
     * @return those changed
     */
    Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException;

    /** Settles the transaction's own claim; empty if it is not its own any more. */
    Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException;

    /**
     * Whether {@link #settleOwn} can tell transactions apart. Where it cannot, a savepoint tells whether an action has ended the
     * transaction.
     */
    default boolean isToldApart() {
        return false;
    }

    /**
     * As {@link #settle}, but only if this same transaction has {@linkplain #insert inserted} the entry, with no savepoint around it. For
     * transactions that were begun for one claim, where {@link #isToldApart()}.
     */
    default Optional<SettleResult.Settled> settleOwn(Connection connection, Settlement settlement) throws SQLException {
        throw new UnsupportedOperationException();
    }
}
