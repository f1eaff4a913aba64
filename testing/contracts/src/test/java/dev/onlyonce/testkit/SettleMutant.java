package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Transition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiFunction;

/** Stores that break one rule each of settling, and what operators do: results, resolutions, evictions and listings. */
@SuppressWarnings("ImmutableEnumChecker")
enum SettleMutant implements WrappingMutant {
    SETTLES_WITH_ANY_TOKEN((store, clock) -> new Mutated(store) {
        @Override
        Settlement change(Settlement s) {
            UUID token = entry(s.id()).map(Entry::token).orElse(s.token());
            return new Settlement(s.id(), token, s.to(), s.result(), s.reason());
        }
    }),
    LETS_THE_OWNER_CHANGE_ITS_MIND((store, clock) -> new Mutated(store) {
        @Override
        SettleResult change(Settlement s, SettleResult result) {
            Optional<Entry> own = entry(s.id()).filter(e -> s.token().equals(e.token()));
            return result instanceof Lost && own.isPresent()
                    ? new Settled(own.get().createdAt(), own.get().expiresAt())
                    : result;
        }
    }),
    TELLS_THE_TIME_OF_THE_REPEATED_SETTLEMENT((store, clock) -> new Mutated(store) {
        @Override
        SettleResult change(Settlement s, SettleResult result) {
            Instant now = clock.now();
            return result instanceof Settled settled && settled.expiresAt() != null
                    ? new Settled(now, now.plus(settled.retention()))
                    : result;
        }
    }),
    ACKNOWLEDGES_WITHOUT_RECORDING((store, clock) -> new Mutated(store) {
        @Override
        public List<SettleResult> settle(List<Settlement> settlements) {
            return settlements.stream()
                    .<SettleResult>map(s -> s.to() == State.COMPLETED
                            ? new Settled(clock.now(), clock.now().plusSeconds(86_400))
                            : super.settle(List.of(s)).get(0))
                    .toList();
        }
    }),
    CUTS_RESULTS_AT_64_KIB((store, clock) -> new Mutated(store) {
        @Override
        Settlement change(Settlement s) {
            return s.result() == null || s.result().length < 65_536
                    ? s
                    : new Settlement(s.id(), s.token(), s.to(), Arrays.copyOf(s.result(), 65_535), s.reason());
        }
    }),
    TAKES_RESULTS_FOR_TEXT((store, clock) -> new Mutated(store) {
        @Override
        Settlement change(Settlement s) {
            byte[] text = s.result() == null
                    ? null
                    : new String(s.result(), java.nio.charset.StandardCharsets.UTF_8)
                            .getBytes(java.nio.charset.StandardCharsets.UTF_8);
            return new Settlement(s.id(), s.token(), s.to(), text, s.reason());
        }
    }),
    TAKES_AN_EMPTY_RESULT_FOR_NONE((store, clock) -> new Mutated(store) {
        @Override
        Settlement change(Settlement s) {
            boolean empty = s.result() != null && s.result().length == 0;
            return empty ? new Settlement(s.id(), s.token(), s.to(), null, s.reason()) : s;
        }
    }),
    RESOLVES_WHATEVER_THE_ATTEMPT((store, clock) -> new Mutated(store) {
        @Override
        public List<SettleResult> resolve(List<Resolution> resolutions) {
            return super.resolve(resolutions.stream()
                    .map(r -> new Resolution(
                            r.id(),
                            r.createdAt(),
                            entry(r.id()).map(Entry::attempt).orElse(r.attempt()),
                            r.to(),
                            r.result(),
                            r.who(),
                            r.reason()))
                    .toList());
        }
    }),
    RESOLVES_WHATEVER_THE_ENTRY((store, clock) -> new Mutated(store) {
        @Override
        public List<SettleResult> resolve(List<Resolution> resolutions) {
            return super.resolve(resolutions.stream()
                    .map(r -> entry(r.id()).map(e -> r.about(e.createdAt())).orElse(r))
                    .toList());
        }
    }),
    EVICTS_UNKNOWN_ENTRIES((store, clock) -> new Mutated(store) {
        @Override
        public Optional<Transition> evict(EntryId id, String who, String reason) {
            entry(id)
                    .filter(e -> e.state() == UNKNOWN)
                    .ifPresent(e -> resolve(List.of(new Resolution(id, e.attempt(), RETRYABLE, null, who, reason))));
            return super.evict(id, who, reason);
        }
    }),
    LISTS_WITHOUT_THE_TENANT((store, clock) -> new Mutated(store) {
        @Override
        public List<Entry> list(EntryQuery q) {
            return super.list(new EntryQuery(null, q.operation(), q.state(), q.olderThan(), q.after(), q.limit()));
        }
    }),
    LISTS_THE_LAST_ONE_AGAIN((store, clock) -> new Mutated(store) {
        @Override
        public List<Entry> list(EntryQuery q) {
            List<Entry> page = new ArrayList<>(super.list(q));
            if (q.after() != null && !page.isEmpty() && page.size() < q.limit()) {
                entry(q.after()).ifPresent(e -> page.add(0, e));
            }
            return page;
        }
    }),
    LISTS_RESULTS_TOO((store, clock) -> new Mutated(store) {
        @Override
        public List<Entry> list(EntryQuery q) {
            return super.list(q).stream().map(e -> entry(e.id()).orElse(e)).toList();
        }
    });

    private final BiFunction<Store, ShiftedTime, Store> mutation;

    SettleMutant(BiFunction<Store, ShiftedTime, Store> mutation) {
        this.mutation = mutation;
    }

    @Override
    public Store mutate(Store store, ShiftedTime clock) {
        return mutation.apply(store, clock);
    }
}
