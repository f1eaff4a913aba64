package dev.onlyonce.store;

import dev.onlyonce.store.Decision.Change;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Entries in this process's memory: for tests, and for data that need not survive the process. It is also the shortest
 * complete implementation of {@link Store}. One lock guards everything; {@link Life} decides.
 */
public final class MemoryStore implements Store {
    private final Time time;
    private final NavigableMap<EntryId, Entry> entries = new TreeMap<>();
    private final MemoryAudit audit = new MemoryAudit();

    /** An empty store that follows the given clock. */
    public MemoryStore(Time time) {
        this.time = time;
    }

    /** Decides about one entry after the other, as of one time, and writes what is decided. */
    private synchronized <T, R> List<R> change(List<T> items, Function<T, EntryId> id, Rule<T, R> rule) {
        StoreTime now = StoreTime.at(time.now());
        List<R> answers = new ArrayList<>();
        for (T item : items) {
            EntryId key = id.apply(item);
            Decision<R> decision = rule.decide(entries.get(key), item, now);
            if (decision instanceof Change<R> change) {
                write(key, change);
            }
            answers.add(decision.answer());
        }
        return answers;
    }

    private void write(EntryId id, Change<?> change) {
        if (change.next() == null) {
            entries.remove(id);
        } else {
            entries.put(id, change.next());
        }
        change.audit().forEach(transition -> audit.add(transition, change.at()));
    }

    private interface Rule<T, R> {
        Decision<R> decide(@Nullable Entry stored, T item, StoreTime now);
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        return change(requests, ClaimRequest::id, Life::claim);
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        return change(settlements, Settlement::id, Life::settle);
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        return change(renewals, Renewal::id, Life::renew);
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        return change(resolutions, Resolution::id, (stored, r, now) -> Life.resolve(stored, r, false, now));
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        return change(List.of(id), same -> same, (stored, same, now) -> Life.evict(stored, who, reason, now))
                .get(0);
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        return change(ids, id -> id, (stored, id, now) -> new Decision.Unchanged<>(Life.visible(stored, now)));
    }

    @Override
    public List<Transition> sweep(int limit) {
        return upkeep(limit, (stored, now) -> Life.sweep(stored, false, now), Optional::isPresent).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    @Override
    public int purge(int limit) {
        return upkeep(limit, Life::purge, Boolean::booleanValue).size();
    }

    /** Visits every entry; ends no more than the limit. */
    private synchronized <R> List<R> upkeep(
            int limit, BiFunction<Entry, StoreTime, Decision<R>> rule, Predicate<R> isEnd) {
        StoreTime now = StoreTime.at(time.now());
        List<R> ended = new ArrayList<>();
        for (Entry stored : List.copyOf(entries.values())) {
            boolean isFull = ended.size() == limit;
            if (rule.apply(stored, now) instanceof Change<R> change && !(isFull && isEnd.test(change.answer()))) {
                write(stored.id(), change);
                Stream.of(change.answer()).filter(isEnd).forEach(ended::add);
            }
        }
        return ended;
    }

    @Override
    public synchronized List<Entry> list(EntryQuery query) {
        Instant now = time.now();
        var after = query.after();
        var candidates = after == null ? entries : entries.tailMap(after, false);
        return candidates.values().stream()
                .flatMap(stored -> Life.visible(stored, StoreTime.at(now)).stream())
                .filter(e -> query.tenant() == null || query.tenant().equals(e.id().tenant()))
                .filter(e -> query.operation() == null || query.operation().equals(e.operation()))
                .filter(e -> query.state() == null || query.state() == e.state())
                .filter(e -> query.olderThan() == null
                        || !e.createdAt().plus(query.olderThan()).isAfter(now))
                .limit(query.limit())
                .map(Entry::withoutResult)
                .toList();
    }

    @Override
    public synchronized List<AuditRecord> history(EntryId id) {
        return audit.history(id);
    }

    @Override
    public synchronized List<AuditRecord> audit(AuditQuery query) {
        return audit.list(query);
    }

    @Override
    public synchronized int purgeAudit(Duration retention, int limit) {
        return audit.purge(time.now().minus(retention), limit);
    }

    @Override
    public Optional<Instant> now() {
        return Optional.of(time.now());
    }

    @Override
    public void close() {}
}
