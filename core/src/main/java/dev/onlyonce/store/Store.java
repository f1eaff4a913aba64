package dev.onlyonce.store;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where entries live. Any number of threads and nodes call it at once.
 *
 * <p>Most authors of stores write an {@link EntryTable}, of which {@link TableStore} makes a store. One that changes many entries with one
 * statement or script implements this interface, and asks {@link Life}.
 *
 * <p>Every verb takes a list and answers in the list's order. The ids in one list are distinct; a store may throw
 * {@link IllegalArgumentException} if not. Each item is atomic:
 *
 * <ul>
 *   <li>the call returns: everything is durable, except the items answered as busy, which changed nothing;
 *   <li>{@link StoreUnavailable}: nothing was changed;
 *   <li>{@link StoreBusy}: nothing was changed, because somebody else holds a row of the list, or the right to write, and
 *       the store cannot tell which row. The caller goes on with single rows;
 *   <li>{@link StoreRejected}: nothing was changed, and some row in the list will never be taken;
 *   <li>{@link StoreOutcomeUnknown}: any of the items may have been changed: all, some or none. A call is not one transaction;
 *       a store that spreads its items over servers cannot undo those that succeeded. The caller repeats the call with the same
 *       tokens, which is safe: a claim or settlement that had been recorded answers as if it were recorded now.
 * </ul>
 *
 * <p>A row that somebody else holds must not hold up its neighbours. A store that can tell which rows those are skips them
 * and answers {@link ClaimResult.Busy}, {@link SettleResult.Busy} or {@link RenewResult#BUSY} for them alone; it does not
 * wait for them. Where it has to wait for a lock, it waits for a short, bounded time and then throws {@link StoreBusy}.
 * A claim whose server is down or overloaded is {@link ClaimResult.Unavailable}: nobody may be at work on its key.
 *
 * <p>Every change of an entry's state is audited, in the same commit: who, when, from what to what, and why. A call that changes
 * nothing (a duplicate, a lost claim, a repeated call, a heartbeat) leaves no record.
 *
 * <p>Time is the store's clock. Nothing here reads an entry first and writes it later: every change is one conditional
 * statement.
 */
public interface Store extends AutoCloseable {
    /** Bounds a statement, its memory and the time its locks are held. */
    int BATCH_MAX = 256;

    /** What this store can hold and do. {@link StoreLimits#NONE} unless it says otherwise. */
    default StoreLimits limits() {
        return StoreLimits.NONE;
    }

    /**
     * Claims, or accepts for a worker. Atomically for each id:
     *
     * <ul>
     *   <li>no entry, or one past its retention and tombstone: a new entry, attempt 1;
     *   <li>a pending or retryable entry with this operation and fingerprint, and the request is to execute: the caller's,
     *       attempt + 1 (an accepted entry has attempt 0), with the request's terms from now on. An accepting request
     *       takes neither;
     *   <li>an entry with this token in the state asked for: the caller's already, unchanged except for its lease;
     *   <li>anything else: unchanged, and returned.
     * </ul>
     */
    List<ClaimResult> claim(List<ClaimRequest> requests);

    /**
     * Ends claims. Only an entry that is {@link State#PROCESSING} with this token changes; one that this token has
     * settled in this way already answers {@link SettleResult.Settled}; everything else answers
     * {@link SettleResult.Lost}. A lapsed lease is no reason to refuse: until somebody has swept the entry, the claim's
     * result is the best answer there is. For RETRYABLE, COMPLETED and FAILED the retention of the entry's terms starts now.
     */
    List<SettleResult> settle(List<Settlement> settlements);

    /**
     * Renews the leases of entries that are {@link State#PROCESSING} with this token, lapsed or not. Never shortens one: a renewal
     * that was held up must not take back what a later one gave.
     */
    List<RenewResult> renew(List<Renewal> renewals);

    /** Reads entries; empty for absent ones and for those past retention and tombstone. */
    List<Optional<Entry>> find(List<EntryId> ids);

    /**
     * Ends abandoned claims, at most {@code limit} entries: processing entries with a lapsed lease become what their
     * terms say, pending ones past their lease become {@link State#FAILED} without a result. Their tokens are erased:
     * the old owners are fenced out. Safe on every node at once.
     *
     * <p>A lease that ends later than a lease from now was given when the clock was ahead: it is shortened to a lease from now,
     * at the latest by the first sweep of this store after the clock has gone back.
     */
    List<Transition> sweep(int limit);

    /**
     * Removes expired entries, at most {@code limit} entries: purgeable entries past retention become tombstones, if
     * their terms ask for it, and are deleted after that. Skips rows that others have locked. Never touches pending,
     * processing and unknown entries. Makes no audit records: what it does follows from the settlement and its terms. A record
     * that was kept with an entry stays, unless the store is configured to drop it (see {@link AuditLevel}).
     *
     * @return how many entries were deleted or made tombstones
     */
    int purge(int limit);

    /**
     * Settles unknown entries. Changes only an entry that is {@link State#UNKNOWN} at the resolution's attempt and, if the
     * resolution says when it was made, is that entry. Repeating a recorded resolution answers {@link SettleResult.Lost}, as
     * for any other entry. One that leaves an entry unknown is a note: it changes nothing but the audit, where repeating it repeats it.
     */
    List<SettleResult> resolve(List<Resolution> resolutions);

    /**
     * Deletes an entry that {@linkplain State#isPurgeable() is purgeable}, so that its key can be used as new. For
     * operators; pending, processing and unknown entries are refused.
     *
     * @return the change; empty if there was nothing to delete
     */
    Optional<Transition> evict(EntryId id, String who, String reason);

    /**
     * Lists entries in the order of their ids, without their results, which may be large: {@link #find} reads those. For operators: it
     * may read many rows.
     */
    List<Entry> list(EntryQuery query);

    /**
     * How many entries a tenant has, tombstones included; stops counting at {@code max}. Callers may ask for every active
     * tenant every few seconds, so a store that can count without reading the entries overrides it.
     *
     * @param tenant null for all tenants
     */
    default int countStored(@Nullable String tenant, int max) {
        int counted = 0;
        EntryQuery query = new EntryQuery(tenant, null, null, null, null, Math.min(max, EntryQuery.LIMIT_MAX));
        List<Entry> page;
        do {
            page = list(query);
            counted += page.size();
            query = page.isEmpty()
                    ? query
                    : query.after(page.get(page.size() - 1).id());
        } while (page.size() == query.limit() && counted < max);
        return Math.min(counted, max);
    }

    /**
     * How many entries are in each state. Reads about {@code max} entries at most, so beyond that the counts are estimates or lower
     * bounds; the result says which. For overviews that are shown every few seconds.
     */
    default StateCounts countStates(int max) {
        Map<State, Long> counts = new EnumMap<>(State.class);
        int read = 0;
        EntryQuery query = EntryQuery.all(Math.min(max, EntryQuery.LIMIT_MAX));
        List<Entry> page;
        do {
            page = list(query);
            page.forEach(entry -> counts.merge(entry.state(), 1L, Long::sum));
            read += page.size();
            query = page.isEmpty()
                    ? query
                    : query.after(page.get(page.size() - 1).id());
        } while (page.size() == query.limit() && read < max);
        if (read < max) {
            return new StateCounts(counts, StateCounts.Kind.EXACT);
        }
        // Those that an operator has to look at may be behind the bound.
        long unknown =
                list(EntryQuery.all(EntryQuery.LIMIT_MAX).in(State.UNKNOWN)).size();
        counts.merge(State.UNKNOWN, unknown, Math::max);
        return new StateCounts(counts, StateCounts.Kind.AT_LEAST);
    }

    /** What it is, for operators, such as {@code PostgreSQL}. */
    default String description() {
        return getClass().getSimpleName();
    }

    /** What a failover of it can lose, in a sentence for operators. */
    default String failover() {
        return "Everything: entries are in the memory of this process.";
    }

    /**
     * The audit records of a key, oldest first, at most the newest {@value AuditQuery#LIMIT_MAX}: of its entry and of the
     * entries before it. The records of one entry begin with one from nothing, unless that
     * has been purged, and follow one another; the last one of an entry that was evicted or replaced leads to nothing. The
     * end of retention has no record: an answer may have expired, and an entry may be gone, after the last one.
     */
    List<AuditRecord> history(EntryId id);

    /**
     * Lists audit records, oldest first. The first change of an entry may be listed only with the one that follows it. Pages
     * show every record once; one whose entry ends between two pages may be on both. For operators: it may read many rows.
     */
    List<AuditRecord> audit(AuditQuery query);

    /**
     * Deletes audit records that are older than {@code retention}, oldest first, at most {@code limit}. Safe on every node at
     * once.
     *
     * @return how many were deleted
     */
    int purgeAudit(Duration retention, int limit);

    /**
     * Shows that entries can be recorded now, by a write that leaves nothing behind. For health checks.
     *
     * @throws StoreException if they cannot: no room, no right to write, or no way to reach it
     */
    default void checkWritable() {}

    /**
     * Looks again at what was checked when the store was opened: whether it would forget entries, and whether it is still the same store.
     * Called before every sweep, so it costs a small read or two. From the moment that it throws {@link StoreRefused} until it returns
     * normally again, every other verb but those that list throws that too; {@link StoreGate} does this.
     *
     * @throws StoreRefused if the store must not be used
     * @throws StoreException if it cannot be asked
     */
    default void recheck() {}

    /** Why {@link #recheck} refuses the store; empty while it does not. Does not block. For metrics. */
    default Optional<String> refusal() {
        return Optional.empty();
    }

    /**
     * Accepts that the store is empty, or another one than this node knew: an operator's decision, for all nodes. Keys from before are
     * forgotten.
     *
     * @throws IllegalStateException if there is nothing to accept
     * @throws StoreException if the store cannot be asked, or is refused for another reason
     */
    default void accept(String who, String reason) {
        throw new IllegalStateException("There is nothing to accept: this store cannot be replaced while it is used");
    }

    /** What this store may lose because its owner has accepted that. For health checks. */
    default List<String> acceptedRisks() {
        return List.of();
    }

    /** Whether results are encrypted before they are stored. */
    default boolean isSealing() {
        return false;
    }

    /**
     * Notes for operators that a node uses this store. Replaces what a node of this name noted before. A store may keep no such notes.
     *
     * @param upFor how long it has been running
     */
    default void announce(String node, String version, Duration upFor) {}

    /** The nodes that have announced themselves within the last hour, at most a few hundred; empty if the store keeps no such notes. */
    default Optional<List<NodeRecord>> nodes() {
        return Optional.empty();
    }

    /** The version of the tables that it needs and has found or created; 0 if it needs none. */
    default int schemaVersion() {
        return 0;
    }

    /** The store's clock now; empty if the store cannot tell without reading an entry. */
    default Optional<Instant> now() {
        return Optional.empty();
    }

    /** The store itself, behind any cache in front of it. */
    default Store origin() {
        return this;
    }

    /** What the shared cache in front of the store has done; empty if there is none. For health checks and metrics. */
    default Optional<CacheCounts> cache() {
        return Optional.empty();
    }

    /** How long a node may remember an answer at most: an eviction is over only after that. Unlimited unless the store says so. */
    default Duration rememberMax() {
        return Terms.RETENTION_MAX;
    }

    /** Closes the resources that the store has opened itself. */
    @Override
    void close();
}
