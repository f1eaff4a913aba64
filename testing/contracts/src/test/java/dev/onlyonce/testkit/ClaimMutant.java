package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.ClaimResult.Claimed;
import dev.onlyonce.store.ClaimResult.Existing;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;

/** Stores that break one rule each of claiming: who wins, what a taken key keeps, and which ids are one. */
@SuppressWarnings("ImmutableEnumChecker")
enum ClaimMutant implements WrappingMutant {
    FORGETS_THE_FINGERPRINT_ON_TAKEOVER((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            return entry(r.id())
                    .filter(entry -> entry.state() == RETRYABLE)
                    .map(entry -> new ClaimRequest(
                            r.id(), r.operation(), entry.fingerprint(), r.token(), r.owner(), r.terms(), r.start()))
                    .orElse(r);
        }
    }),
    FORGETS_THE_TARGET((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            return Requests.withTarget(null, r);
        }
    }),
    COMPARES_THE_TARGET((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            return entry(r.id())
                    .filter(e -> !Objects.equals(
                            e.fingerprint().target(), r.fingerprint().target()))
                    .map(e -> Requests.withBody("another request", r))
                    .orElse(r);
        }
    }),
    FORGETS_THE_OPERATION_ON_TAKEOVER((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            return entry(r.id())
                    .filter(entry -> entry.state() == State.PENDING)
                    .map(entry -> Requests.withOperation(entry.operation(), r))
                    .orElse(r);
        }
    }),
    KEEPS_THE_OLD_TERMS_ON_TAKEOVER((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            return entry(r.id()).map(entry -> Requests.on(entry.terms(), r)).orElse(r);
        }
    }),
    ACCEPTS_OVER_A_RETRYABLE_ENTRY((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            boolean retryable =
                    entry(r.id()).filter(e -> e.state() == RETRYABLE).isPresent();
            return new ClaimRequest(
                    r.id(),
                    r.operation(),
                    r.fingerprint(),
                    r.token(),
                    r.owner(),
                    r.terms(),
                    retryable ? PROCESSING : r.start());
        }
    }),
    TELLS_LOSERS_THEY_WON((store, clock) -> new Mutated(store) {
        @Override
        ClaimResult change(ClaimRequest request, ClaimResult result) {
            return result instanceof Existing existing && existing.entry().state() == PROCESSING
                    ? new Claimed(existing.entry().attempt())
                    : result;
        }
    }),
    READS_THEN_WRITES((store, clock) -> new Mutated(store) {
        @Override
        public List<ClaimResult> claim(List<ClaimRequest> requests) {
            List<Optional<Entry>> seen =
                    find(requests.stream().map(ClaimRequest::id).toList());
            java.util.concurrent.locks.LockSupport.parkNanos(1000); // read, then write
            List<ClaimResult> results = new ArrayList<>(super.claim(requests));
            for (int i = 0; i < results.size(); i++) {
                if (seen.get(i).isEmpty()) {
                    results.set(i, new Claimed(1));
                }
            }
            return results;
        }
    }),
    LETS_LOSERS_EXTEND_THE_LEASE((store, clock) -> new Mutated(store) {
        @Override
        ClaimResult change(ClaimRequest request, ClaimResult result) {
            if (result instanceof Existing existing && existing.entry().token() != null) {
                renew(List.of(new Renewal(
                        request.id(),
                        existing.entry().token(),
                        request.terms().lease().plusSeconds(1))));
            }
            return result;
        }
    }),
    DOES_NOT_KNOW_ITS_OWN_TOKEN((store, clock) -> new Mutated(store) {
        @Override
        public List<ClaimResult> claim(List<ClaimRequest> requests) {
            ClaimRequest request = requests.isEmpty() ? Requests.fresh("none") : requests.get(0);
            Optional<Entry> own = entry(request.id())
                    .filter(e -> e.state() == request.start() && request.token().equals(e.token()));
            return own.isPresent() && requests.size() == 1 ? List.of(new Existing(own.get())) : super.claim(requests);
        }
    }),
    TAKES_OVER_LAPSED_CLAIMS((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            entry(r.id())
                    .filter(e -> e.state() == PROCESSING && e.leaseLeft().isZero())
                    .filter(e -> !r.token().equals(e.token()))
                    .ifPresent(e -> {
                        settle(List.of(new Settlement(e.id(), e.token(), RETRYABLE, null, "lapsed")));
                    });
            return r;
        }
    }),
    LETS_CLIENTS_CLAIM_UNKNOWN_ENTRIES((store, clock) -> new Mutated(store) {
        @Override
        ClaimRequest change(ClaimRequest r) {
            entry(r.id())
                    .filter(e -> e.state() == UNKNOWN)
                    .ifPresent(e -> resolve(List.of(new Resolution(e.id(), e.attempt(), RETRYABLE, null, "?", "?"))));
            return r;
        }
    }),
    ANSWERS_IN_THE_ORDER_OF_IDS((store, clock) -> new Mutated(store) {
        @Override
        public List<ClaimResult> claim(List<ClaimRequest> requests) {
            return super.claim(requests.stream()
                    .sorted(Comparator.comparing(ClaimRequest::id))
                    .toList());
        }
    }),
    FOLDS_CASE((store, clock) ->
            new RenamingStore(store, id -> new EntryId(id.tenant().toLowerCase(Locale.ROOT), id.scope(), id.key()))),
    FOLDS_CASE_OF_KEYS((store, clock) -> new RenamingStore(
            store, id -> new EntryId(id.tenant(), id.scope(), id.key().toLowerCase(Locale.ROOT)))),
    PADS_SPACES((store, clock) -> new RenamingStore(
            store, id -> new EntryId(id.tenant().stripTrailing(), id.scope().stripTrailing(), id.key()))),
    JOINS_THE_PARTS_OF_IDS((store, clock) ->
            new RenamingStore(store, id -> new EntryId("all", "", id.tenant() + ":" + id.scope() + ":" + id.key()))),
    IGNORES_THE_TENANT((store, clock) -> new RenamingStore(store, id -> new EntryId("all", id.scope(), id.key()))),
    IGNORES_THE_SPACE((store, clock) -> new RenamingStore(store, id -> new EntryId(id.tenant(), "", id.key())));

    private final BiFunction<Store, ShiftedTime, Store> mutation;

    ClaimMutant(BiFunction<Store, ShiftedTime, Store> mutation) {
        this.mutation = mutation;
    }

    @Override
    public Store mutate(Store store, ShiftedTime clock) {
        return mutation.apply(store, clock);
    }
}
