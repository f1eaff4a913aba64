package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.UNKNOWN;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.ClaimResult.Claimed;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Transition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/** Stores that break one rule each of time: leases, heartbeats, sweeping, retention and purging. */
@SuppressWarnings("ImmutableEnumChecker")
enum TimeMutant implements WrappingMutant {
    RENEWS_FOR_ANYBODY((store, clock) -> new Mutated(store) {
        @Override
        public List<RenewResult> renew(List<Renewal> renewals) {
            return super.renew(renewals.stream()
                    .map(r ->
                            new Renewal(r.id(), entry(r.id()).map(Entry::token).orElse(r.token()), r.lease()))
                    .toList());
        }
    }),
    DOES_NOT_RENEW_LAPSED_LEASES((store, clock) -> new Mutated(store) {
        @Override
        public List<RenewResult> renew(List<Renewal> renewals) {
            return renewals.stream()
                    .map(r -> entry(r.id()).filter(e -> !e.leaseLeft().isZero()).isPresent()
                            ? super.renew(List.of(r)).get(0)
                            : RenewResult.LOST)
                    .toList();
        }
    }),
    ANSWERS_HEARTBEATS_WITHOUT_RENEWING((store, clock) -> new Mutated(store) {
        @Override
        public List<RenewResult> renew(List<Renewal> renewals) {
            return renewals.stream()
                    .map(r -> entry(r.id())
                                    .filter(e ->
                                            e.state() == PROCESSING && r.token().equals(e.token()))
                                    .isPresent()
                            ? RenewResult.RENEWED
                            : RenewResult.LOST)
                    .toList();
        }
    }),
    KEEPS_THE_TOKEN_WHEN_SWEEPING((store, clock) -> new Mutated(store) {
        private final Map<EntryId, UUID> tokens = new ConcurrentHashMap<>();

        @Override
        ClaimResult change(ClaimRequest request, ClaimResult result) {
            if (result instanceof Claimed) {
                tokens.put(request.id(), request.token());
            }
            return result;
        }

        @Override
        SettleResult change(Settlement s, SettleResult result) {
            Optional<Entry> same = entry(s.id()).filter(e -> e.state() == s.to());
            return same.isPresent() && s.token().equals(tokens.get(s.id()))
                    ? new Settled(
                            java.util.Objects.requireNonNull(same.get().settledAt()),
                            same.get().expiresAt())
                    : result;
        }
    }),
    SWEEPS_A_MICROSECOND_EARLY((store, clock) -> new Mutated(store) {
        @Override
        public List<Transition> sweep(int limit) {
            return clock.shifted(1, () -> super.sweep(limit));
        }
    }),
    SWEEPS_A_MICROSECOND_LATE((store, clock) -> new Mutated(store) {
        @Override
        public List<Transition> sweep(int limit) {
            return clock.shifted(-1, () -> super.sweep(limit));
        }
    }),
    SWEEPS_WITHOUT_LIMIT((store, clock) -> new Mutated(store) {
        @Override
        public List<Transition> sweep(int limit) {
            return super.sweep(Integer.MAX_VALUE);
        }
    }),
    REPORTS_A_SWEEP_TWICE((store, clock) -> new Mutated(store) {
        private final List<Transition> before = new ArrayList<>();

        @Override
        public synchronized List<Transition> sweep(int limit) {
            List<Transition> all = new ArrayList<>(super.sweep(limit));
            List<Transition> again = List.copyOf(before);
            before.clear();
            before.addAll(all);
            all.addAll(again);
            return all;
        }
    }),
    PURGES_A_MICROSECOND_EARLY((store, clock) -> new Mutated(store) {
        @Override
        public int purge(int limit) {
            return clock.shifted(1, () -> super.purge(limit));
        }
    }),
    PURGES_A_MICROSECOND_LATE((store, clock) -> new Mutated(store) {
        @Override
        public int purge(int limit) {
            return clock.shifted(-1, () -> super.purge(limit));
        }
    }),
    PURGES_WITHOUT_LIMIT((store, clock) -> new Mutated(store) {
        @Override
        public int purge(int limit) {
            return super.purge(Integer.MAX_VALUE);
        }
    }),
    PURGES_OLD_CLAIMS((store, clock) -> new HidingStore(store, PROCESSING)),
    PURGES_OLD_UNKNOWN_ENTRIES((store, clock) -> new HidingStore(store, UNKNOWN)),
    PURGES_OLD_PENDING_ENTRIES((store, clock) -> new HidingStore(store, State.PENDING)),
    ANSWERS_A_MICROSECOND_TOO_LONG((store, clock) -> new Mutated(store) {
        @Override
        public List<Optional<Entry>> find(List<EntryId> ids) {
            return clock.shifted(-1, () -> super.find(ids)).stream()
                    .map(found -> found.map(e -> readAt(e, e.readAt().plusNanos(1000))))
                    .toList();
        }
    }),
    STARTS_ANEW_A_MICROSECOND_EARLY((store, clock) -> new Mutated(store) {
        @Override
        public List<ClaimResult> claim(List<ClaimRequest> requests) {
            boolean expiring = requests.size() == 1
                    && entry(requests.get(0).id())
                            .filter(e -> e.state() == State.COMPLETED)
                            .isPresent();
            return expiring ? clock.shifted(1, () -> super.claim(requests)) : super.claim(requests);
        }
    });

    private final BiFunction<Store, ShiftedTime, Store> mutation;

    TimeMutant(BiFunction<Store, ShiftedTime, Store> mutation) {
        this.mutation = mutation;
    }

    @Override
    public Store mutate(Store store, ShiftedTime clock) {
        return mutation.apply(store, clock);
    }
}
