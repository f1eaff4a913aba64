package dev.onlyonce.testkit;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A store that lets the owner of one claim crash between its effect and the record: after {@link #crashNext}, the first claim that
 * is settled is never heard of again. Its settlement is lost, and so are its heartbeats, so that its lease lapses. Any number of
 * threads.
 */
public final class CrashingStore extends ForwardingStore {
    private final Set<UUID> dead = ConcurrentHashMap.newKeySet();
    /** Empty while the next settlement is the one that is lost. */
    private final AtomicReference<@Nullable Optional<EntryId>> crash = new AtomicReference<>();

    /** Wraps a store; nothing crashes yet. */
    public CrashingStore(Store store) {
        super(store);
    }

    /** The owner of the claim that is settled next dies before it is recorded. */
    public void crashNext() {
        crash.set(Optional.empty());
    }

    /** Nobody else dies. Returns the entry whose owner has died since {@link #crashNext}; empty if nothing was settled. */
    public Optional<EntryId> endCrash() {
        Optional<EntryId> crashed = crash.getAndSet(null);
        return crashed == null ? Optional.empty() : crashed;
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        for (Settlement settlement : settlements) {
            Optional<EntryId> waiting = crash.get();
            if (waiting != null && waiting.isEmpty() && crash.compareAndSet(waiting, Optional.of(settlement.id()))) {
                dead.add(settlement.token());
            }
        }
        List<Settlement> alive =
                settlements.stream().filter(s -> !dead.contains(s.token())).toList();
        List<SettleResult> settled = new ArrayList<>(super.settle(alive));
        return settlements.stream()
                .map(s -> dead.contains(s.token()) ? new SettleResult.Lost(State.PROCESSING) : settled.remove(0))
                .toList();
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        List<Renewal> alive =
                renewals.stream().filter(r -> !dead.contains(r.token())).toList();
        List<RenewResult> renewed = new ArrayList<>(super.renew(alive));
        return renewals.stream()
                .map(r -> dead.contains(r.token()) ? RenewResult.LOST : renewed.remove(0))
                .toList();
    }
}
