package dev.onlyonce.testkit;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreLimits;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** A store that passes every call on; {@link #around} sees them all. */
class ForwardingStore implements Store {
    private final Store store;

    ForwardingStore(Store store) {
        this.store = store;
    }

    /**
     * Makes the call, or does something else.
     *
     * @param asked what the call is about: its list, query, limit or id
     * @param call an {@link ItemsCall} if it is about a list
     */
    <T> T around(Verb verb, Object asked, Supplier<T> call) {
        return call.get();
    }

    @Override
    public StoreLimits limits() {
        return store.limits();
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        return around(Verb.CLAIM, requests, new ItemsCall<>(requests, store::claim));
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        return around(Verb.SETTLE, settlements, new ItemsCall<>(settlements, store::settle));
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        return around(Verb.RENEW, renewals, new ItemsCall<>(renewals, store::renew));
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        return around(Verb.FIND, ids, new ItemsCall<>(ids, store::find));
    }

    @Override
    public List<Transition> sweep(int limit) {
        return around(Verb.SWEEP, limit, () -> store.sweep(limit));
    }

    @Override
    public int purge(int limit) {
        return around(Verb.PURGE, limit, () -> store.purge(limit));
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        return around(Verb.RESOLVE, resolutions, new ItemsCall<>(resolutions, store::resolve));
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        return around(Verb.EVICT, id, () -> store.evict(id, who, reason));
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return around(Verb.LIST, query, () -> store.list(query));
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return around(Verb.HISTORY, id, () -> store.history(id));
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return around(Verb.AUDIT, query, () -> store.audit(query));
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        return around(Verb.PURGE_AUDIT, limit, () -> store.purgeAudit(retention, limit));
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

    @Override
    public void close() {
        store.close();
    }
}
