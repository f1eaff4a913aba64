package dev.onlyonce.prove;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A fault that is planted in nodes, to see whether the prover finds it. Each is a mistake that somebody has made. */
enum Plant {
    NONE,
    /** A settlement does not compare the token. */
    NO_TOKEN,
    /** A settlement is recorded although its claim was swept, whatever has become of the key. */
    SETTLED_AFTER_SWEEP,
    /** An answer is served from a cache that hears of no eviction. */
    STALE_CACHE,
    /** Fingerprints are compared with completed entries alone. */
    LATE_FINGERPRINT,
    /** A settlement counts as recorded because it can be read, on a primary whose standby is gone. */
    READ_AS_ACKNOWLEDGEMENT,
    /** An exception makes the key free again. */
    RELEASED_ON_EXCEPTION;

    static Plant of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Whether its damage is healed by whoever finds out what is unknown. Then nobody does, so that clients see it. */
    boolean isHealed() {
        return this == READ_AS_ACKNOWLEDGEMENT;
    }

    /** As it is written on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The store with this fault. */
    Store in(Store store) {
        return this == NONE
                ? store
                : (Store) Proxy.newProxyInstance(
                        Store.class.getClassLoader(), new Class<?>[] {Store.class}, new Faulty(this, store)::invoke);
    }

    private static final class Faulty {
        private final Plant plant;
        private final Store store;
        private final Map<EntryId, Entry> cache = new ConcurrentHashMap<>();

        Faulty(Plant plant, Store store) {
            this.plant = plant;
            this.store = store;
        }

        @SuppressWarnings("unchecked")
        @Nullable
        Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            if (arguments != null && method.getName().equals("settle")) {
                return settle((List<Settlement>) arguments[0]);
            } else if (arguments != null && method.getName().equals("claim")) {
                return claim((List<ClaimRequest>) arguments[0]);
            }
            try {
                return method.invoke(store, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private List<SettleResult> settle(List<Settlement> settlements) {
            return switch (plant) {
                case NO_TOKEN ->
                    store.settle(settlements.stream().map(this::withAnyToken).toList());
                case RELEASED_ON_EXCEPTION ->
                    store.settle(settlements.stream().map(Faulty::released).toList());
                case SETTLED_AFTER_SWEEP -> settledAfterSweep(settlements);
                case READ_AS_ACKNOWLEDGEMENT -> readAsAcknowledgement(settlements);
                default -> store.settle(settlements);
            };
        }

        private Settlement withAnyToken(Settlement settlement) {
            return store.find(List.of(settlement.id()))
                    .get(0)
                    .map(Entry::token)
                    .map(token -> with(settlement, token, settlement.to()))
                    .orElse(settlement);
        }

        private static Settlement released(Settlement settlement) {
            return settlement.to() == State.UNKNOWN
                    ? with(settlement, settlement.token(), State.RETRYABLE)
                    : settlement;
        }

        private static Settlement with(Settlement settlement, UUID token, State to) {
            return Settlement.of(
                    settlement.id(), token, to, Optional.ofNullable(settlement.result()), settlement.reason());
        }

        private List<SettleResult> settledAfterSweep(List<Settlement> settlements) {
            List<SettleResult> results = new ArrayList<>();
            List<SettleResult> honest = store.settle(settlements);
            for (int i = 0; i < settlements.size(); i++) {
                results.add(
                        honest.get(i) instanceof SettleResult.Lost
                                ? anyway(settlements.get(i), honest.get(i))
                                : honest.get(i));
            }
            return results;
        }

        private SettleResult anyway(Settlement settlement, SettleResult lost) {
            Optional<Entry> entry = store.find(List.of(settlement.id())).get(0);
            if (entry.isEmpty() || settlement.to() == State.UNKNOWN) {
                return lost;
            } else if (entry.get().state() == State.UNKNOWN) {
                int attempt = entry.get().attempt();
                Resolution resolution = settlement.to() == State.RETRYABLE
                        ? Resolution.absent(settlement.id(), attempt, "late owner", "it says so")
                        : Resolution.found(
                                settlement.id(),
                                attempt,
                                Optional.ofNullable(settlement.result()),
                                "late owner",
                                "it says so");
                return store.resolve(List.of(resolution)).get(0);
            }
            return store.settle(List.of(withAnyToken(settlement))).get(0) instanceof SettleResult.Settled settled
                    ? settled
                    : new SettleResult.Settled(
                            entry.get().readAt(), entry.get().readAt().plusSeconds(60));
        }

        private List<SettleResult> readAsAcknowledgement(List<Settlement> settlements) {
            try {
                return store.settle(settlements);
            } catch (StoreOutcomeUnknown e) {
                List<SettleResult> seen = new ArrayList<>();
                for (Optional<Entry> entry :
                        store.find(settlements.stream().map(Settlement::id).toList())) {
                    if (entry.isEmpty() || entry.get().settledAt() == null) {
                        throw e;
                    }
                    seen.add(new SettleResult.Settled(
                            entry.get().settledAt(), entry.get().expiresAt()));
                }
                return seen;
            }
        }

        private List<ClaimResult> claim(List<ClaimRequest> requests) {
            return switch (plant) {
                case LATE_FINGERPRINT -> lateFingerprint(requests);
                case STALE_CACHE -> staleCache(requests);
                default -> store.claim(requests);
            };
        }

        private List<ClaimResult> lateFingerprint(List<ClaimRequest> requests) {
            List<ClaimRequest> asked = new ArrayList<>();
            List<Optional<Entry>> entries =
                    store.find(requests.stream().map(ClaimRequest::id).toList());
            for (int i = 0; i < requests.size(); i++) {
                ClaimRequest request = requests.get(i);
                asked.add(entries.get(i)
                        .filter(entry -> entry.state() != State.COMPLETED)
                        .map(entry -> new ClaimRequest(
                                request.id(),
                                request.operation(),
                                entry.fingerprint(),
                                request.token(),
                                request.owner(),
                                request.terms(),
                                request.start()))
                        .orElse(request));
            }
            List<ClaimResult> results = new ArrayList<>();
            for (ClaimResult result : store.claim(asked)) {
                Fingerprint print = requests.get(results.size()).fingerprint();
                results.add(
                        result instanceof ClaimResult.Existing existing
                                        && existing.entry().state() != State.COMPLETED
                                ? new ClaimResult.Existing(with(existing.entry(), print))
                                : result);
            }
            return results;
        }

        private static Entry with(Entry entry, Fingerprint print) {
            return new Entry(
                    entry.id(),
                    entry.operation(),
                    print,
                    entry.state(),
                    entry.token(),
                    entry.owner(),
                    entry.attempt(),
                    entry.terms(),
                    entry.createdAt(),
                    entry.leaseUntil(),
                    entry.settledAt(),
                    entry.expiresAt(),
                    entry.result(),
                    entry.readAt());
        }

        private List<ClaimResult> staleCache(List<ClaimRequest> requests) {
            List<ClaimResult> results = new ArrayList<>();
            for (ClaimRequest request : requests) {
                Entry cached = cache.get(request.id());
                ClaimResult result =
                        cached == null ? store.claim(List.of(request)).get(0) : new ClaimResult.Existing(cached);
                if (result instanceof ClaimResult.Existing existing
                        && existing.entry().state() == State.COMPLETED) {
                    cache.put(request.id(), existing.entry());
                }
                results.add(result);
            }
            return results;
        }
    }
}
