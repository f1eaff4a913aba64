package dev.onlyonce.internal;

import dev.onlyonce.fingerprint.Fingerprint;
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
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Transition;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A store that {@link GroupingStore} calls: it answers each id with something that only that id gets, checks what every
 * call must be like, and does before each call what the test says (wait, throw).
 */
final class GroupedStore implements Store {
    static final Terms TERMS = dev.onlyonce.Policy.standard().terms();

    final Queue<List<EntryId>> calls = new ConcurrentLinkedQueue<>();
    final Queue<String> breaches = new ConcurrentLinkedQueue<>();
    private final AtomicInteger inside = new AtomicInteger();
    private final Consumer<List<EntryId>> before;

    GroupedStore(Consumer<List<EntryId>> before) {
        this.before = before;
    }

    static EntryId id(String key) {
        return new EntryId("acme", "", key);
    }

    static ClaimRequest claim(String key) {
        Fingerprint fingerprint = Fingerprint.of(key.getBytes(StandardCharsets.UTF_8));
        return new ClaimRequest(id(key), "pay", fingerprint, UUID.randomUUID(), "node", TERMS, State.PROCESSING);
    }

    static Settlement settlement(String key) {
        return new Settlement(id(key), UUID.randomUUID(), State.RETRYABLE, null, "no effect");
    }

    static ClaimResult claimed(EntryId id) {
        return new ClaimResult.Claimed(id.hashCode());
    }

    static SettleResult settled(EntryId id) {
        return new SettleResult.Settled(Instant.ofEpochSecond(id.hashCode()), null);
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        call(requests.stream().map(ClaimRequest::id).toList());
        return requests.stream().map(request -> claimed(request.id())).toList();
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        call(settlements.stream().map(Settlement::id).toList());
        return settlements.stream().map(settlement -> settled(settlement.id())).toList();
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        call(ids);
        return ids.stream().map(id -> Optional.of(entry(id))).toList();
    }

    private void call(List<EntryId> ids) {
        calls.add(ids);
        try {
            if (inside.incrementAndGet() > CallQueue.LANES) {
                breaches.add("more calls at once than lanes");
            }
            if (ids.isEmpty() || ids.size() > BATCH_MAX) {
                breaches.add("a call of " + ids.size() + " items");
            }
            if (new HashSet<>(ids).size() < ids.size()) {
                breaches.add("an id twice in one call");
            }
            before.accept(ids);
        } finally {
            inside.decrementAndGet();
        }
    }

    private static Entry entry(EntryId id) {
        Instant now = Instant.EPOCH;
        Fingerprint fingerprint = Fingerprint.of(id.key().getBytes(StandardCharsets.UTF_8));
        return new Entry(id, "pay", fingerprint, State.UNKNOWN, null, "node", 1, TERMS, now, now, now, null, null, now);
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<Transition> sweep(int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int purge(int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
