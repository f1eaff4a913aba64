package dev.onlyonce.redis;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The part of a cached store that the cache has nothing to do with. */
abstract class UncachedVerbs implements Store {
    final Store store;

    UncachedVerbs(Store store) {
        this.store = store;
    }

    @Override
    public Store origin() {
        return store.origin();
    }

    @Override
    public StoreLimits limits() {
        return store.limits();
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        return store.renew(renewals);
    }

    @Override
    public int purge(int limit) {
        return store.purge(limit);
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return store.list(query);
    }

    @Override
    public int countStored(@Nullable String tenant, int max) {
        return store.countStored(tenant, max);
    }

    @Override
    public StateCounts countStates(int max) {
        return store.countStates(max);
    }

    @Override
    public String description() {
        return store.description();
    }

    @Override
    public String failover() {
        return store.failover();
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return store.history(id);
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return store.audit(query);
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        return store.purgeAudit(retention, limit);
    }

    @Override
    public void checkWritable() {
        store.checkWritable();
    }

    @Override
    public void recheck() {
        store.recheck();
    }

    @Override
    public Optional<String> refusal() {
        return store.refusal();
    }

    @Override
    public void accept(String who, String reason) {
        store.accept(who, reason);
    }

    @Override
    public List<String> acceptedRisks() {
        return store.acceptedRisks();
    }

    @Override
    public boolean isSealing() {
        return store.isSealing();
    }

    @Override
    public int schemaVersion() {
        return store.schemaVersion();
    }

    @Override
    public Optional<Instant> now() {
        return store.now();
    }
}
