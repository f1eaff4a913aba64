package dev.onlyonce.testkit;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Purges what it must not: entries of a state that are older than a day. */
final class HidingStore extends Mutated {
    private final State state;
    private final Set<EntryId> hidden = ConcurrentHashMap.newKeySet();

    HidingStore(Store store, State state) {
        super(store);
        this.state = state;
    }

    @Override
    public int purge(int limit) {
        int purged = super.purge(limit);
        EntryQuery old = new EntryQuery(null, null, state, Duration.ofDays(1), null, EntryQuery.LIMIT_MAX);
        list(old).forEach(entry -> hidden.add(entry.id()));
        return purged;
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        return super.find(ids).stream()
                .map(found -> found.filter(e -> !hidden.contains(e.id())))
                .toList();
    }
}
