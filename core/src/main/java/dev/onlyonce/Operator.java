package dev.onlyonce;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import java.util.List;
import java.util.Optional;

/**
 * What operators and their tools call: they look at entries, settle those that are unknown, and remove others. Every method
 * throws {@link StoreException} when the store cannot do its part. Safe for any number of threads.
 */
public final class Operator {
    private final Store store;
    private final Engine engine;
    private final Maintenance maintenance;
    private final Reconciliation reconciliation;

    Operator(Store store, Engine engine, Maintenance maintenance, Reconciliation reconciliation) {
        this.store = store;
        this.engine = engine;
        this.maintenance = maintenance;
        this.reconciliation = reconciliation;
    }

    /** Entries in the order of their ids, without their results. */
    public List<Entry> list(EntryQuery query) {
        return store.list(query);
    }

    /** How many entries a tenant has in the store, tombstones included; stops counting at {@code max}. */
    public int countStored(String tenant, int max) {
        return store.countStored(tenant, max);
    }

    /** How many entries there are in the store, tombstones included; stops counting at {@code max}. */
    public int countStored(int max) {
        return store.countStored(null, max);
    }

    /** What the audit has about a key, oldest first. */
    public List<AuditRecord> history(Key key) {
        return store.history(key.entryId());
    }

    /** What the audit has, oldest first. */
    public List<AuditRecord> audit(AuditQuery query) {
        return store.audit(query);
    }

    /** Settles an unknown entry. A result is the operation's encoded result, as its {@link Codec} makes it. */
    public SettleResult resolve(Resolution resolution) {
        String operation = engine.find(resolution.id()).map(Entry::operation).orElse("");
        return engine.resolve(resolution, operation);
    }

    /**
     * Writes a note into the history of an unknown entry, for those who look next. It decides nothing.
     *
     * @param attempt the attempt whose outcome is unknown
     * @return whether the entry was unknown at this attempt
     */
    public boolean note(Key key, int attempt, String who, String text) {
        Resolution note = Resolution.note(key.entryId(), attempt, who, text);
        return store.resolve(List.of(note)).get(0) instanceof SettleResult.Settled;
    }

    /**
     * Deletes a settled entry, so that its key can be used as if it were new.
     *
     * @return whether there was a settled entry to delete
     */
    public boolean evict(Key key, String who, String reason) {
        return engine.evict(key.entryId(), who, reason);
    }

    /**
     * Accepts that the store is empty, or another one than this node knew; see {@link dev.onlyonce.store.StoreGate}. All nodes go on with
     * it, and keys from before are forgotten.
     *
     * @throws IllegalStateException if there is nothing to accept
     */
    public void acceptStore(String who, String reason) {
        store.accept(who, reason);
    }

    /** Sweeps lapsed leases now; it also happens in the background. Returns how many entries changed. */
    public int sweep() {
        return maintenance.sweep();
    }

    /**
     * Asks about all unknown entries whose operation has a {@link Reconciler} now, due or not; in the background it happens
     * when they are due. Blocks until all were asked about.
     */
    public Reconciler.Round reconcile() {
        return reconciliation.run(true);
    }

    /** Asks about one unknown entry now, due or not. Blocks. Nothing is asked if it is not unknown or its operation has no {@link Reconciler}. */
    public Reconciler.Round reconcile(Entry unknown) {
        return reconciliation.run(unknown);
    }

    /** What this node's reconciler last said about an unknown entry; empty if this node has not asked. */
    public Optional<Reconciler.Progress> progress(Entry unknown) {
        return reconciliation.progress(unknown);
    }

    /** How many entries are in each state; see {@link Store#countStates}. */
    public StateCounts countStates(int max) {
        return store.countStates(max);
    }

    /** Purges expired entries and audit records now; it also happens in the background. Returns how many entries changed. */
    public int purge() {
        return maintenance.purge();
    }
}
