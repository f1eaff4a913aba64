package dev.onlyonce.testkit;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Changes requests and answers one by one. */
class Mutated extends ForwardingStore {
    Mutated(Store store) {
        super(store);
    }

    Optional<Entry> entry(EntryId id) {
        return find(List.of(id)).get(0);
    }

    ClaimRequest change(ClaimRequest request) {
        return request;
    }

    ClaimResult change(ClaimRequest request, ClaimResult result) {
        return result;
    }

    Settlement change(Settlement settlement) {
        return settlement;
    }

    SettleResult change(Settlement settlement, SettleResult result) {
        return result;
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        List<ClaimResult> results =
                super.claim(requests.stream().map(this::change).toList());
        List<ClaimResult> changed = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            changed.add(change(requests.get(i), results.get(i)));
        }
        return changed;
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        List<SettleResult> results =
                super.settle(settlements.stream().map(this::change).toList());
        List<SettleResult> changed = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            changed.add(change(settlements.get(i), results.get(i)));
        }
        return changed;
    }

    static Entry readAt(Entry e, Instant at) {
        return new Entry(
                e.id(),
                e.operation(),
                e.fingerprint(),
                e.state(),
                e.token(),
                e.owner(),
                e.attempt(),
                e.terms(),
                e.createdAt(),
                e.leaseUntil(),
                e.settledAt(),
                e.expiresAt(),
                e.result(),
                at);
    }
}
