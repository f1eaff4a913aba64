package dev.onlyonce.testkit;

import static dev.onlyonce.State.PROCESSING;
import static dev.onlyonce.State.RETRYABLE;
import static dev.onlyonce.State.UNKNOWN;

import dev.onlyonce.State;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Batch;
import dev.onlyonce.store.BatchResult;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.ClaimResult.Claimed;
import dev.onlyonce.store.ClaimResult.Existing;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/** Stores that break one rule each. */
@SuppressWarnings("ImmutableEnumChecker")
enum Mutant {
    SETTLES_WITH_ANY_TOKEN((store, clock) -> new Mutated(store) {
        @Override
        Settlement change(Settlement s) {
            UUID token = entry(s.id()).map(Entry::token).orElse(s.token());
            return new Settlement(s.id(), token, s.to(), s.result(), s.reason());
        }
    }),
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
    TELLS_THE_TIME_OF_THE_REPEATED_SETTLEMENT((store, clock) -> new Mutated(store) {
        @Override
        SettleResult change(Settlement s, SettleResult result) {
            Instant now = clock.now();
            return result instanceof Settled settled && settled.expiresAt() != null
                    ? new Settled(now, now.plus(settled.retention()))
                    : result;
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
    RENEWS_FOR_ANYBODY((store, clock) -> new Mutated(store) {
        @Override
        public List<Boolean> renew(List<Renewal> renewals) {
            return super.renew(renewals.stream()
                    .map(r ->
                            new Renewal(r.id(), entry(r.id()).map(Entry::token).orElse(r.token()), r.lease()))
                    .toList());
        }
    }),
    DOES_NOT_RENEW_LAPSED_LEASES((store, clock) -> new Mutated(store) {
        @Override
        public List<Boolean> renew(List<Renewal> renewals) {
            return renewals.stream()
                    .map(r -> entry(r.id()).filter(e -> !e.leaseLeft().isZero()).isPresent()
                            && super.renew(List.of(r)).get(0))
                    .toList();
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
            new RenamingStore(store, id -> new EntryId(id.tenant().toLowerCase(Locale.ROOT), id.space(), id.key()))),
    FOLDS_CASE_OF_KEYS((store, clock) -> new RenamingStore(
            store, id -> new EntryId(id.tenant(), id.space(), id.key().toLowerCase(Locale.ROOT)))),
    PADS_SPACES((store, clock) -> new RenamingStore(
            store, id -> new EntryId(id.tenant().stripTrailing(), id.space().stripTrailing(), id.key()))),
    JOINS_THE_PARTS_OF_IDS((store, clock) ->
            new RenamingStore(store, id -> new EntryId("all", "", id.tenant() + ":" + id.space() + ":" + id.key()))),
    IGNORES_THE_TENANT((store, clock) -> new RenamingStore(store, id -> new EntryId("all", id.space(), id.key()))),
    IGNORES_THE_SPACE((store, clock) -> new RenamingStore(store, id -> new EntryId(id.tenant(), "", id.key()))),
    RESOLVES_WHATEVER_THE_ATTEMPT((store, clock) -> new Mutated(store) {
        @Override
        public List<SettleResult> resolve(List<Resolution> resolutions) {
            return super.resolve(resolutions.stream()
                    .map(r -> new Resolution(
                            r.id(),
                            entry(r.id()).map(Entry::attempt).orElse(r.attempt()),
                            r.to(),
                            r.result(),
                            r.who(),
                            r.reason()))
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
    ANSWERS_HEARTBEATS_WITHOUT_RENEWING((store, clock) -> new Mutated(store) {
        @Override
        public List<Boolean> renew(List<Renewal> renewals) {
            return renewals.stream()
                    .map(r -> entry(r.id())
                            .filter(e -> e.state() == PROCESSING && r.token().equals(e.token()))
                            .isPresent())
                    .toList();
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
    LOSES_THE_SETTLEMENTS_OF_A_MIXED_BATCH((store, clock) -> new Mutated(store) {
        @Override
        public BatchResult write(Batch batch) {
            if (batch.claims().isEmpty() || batch.settlements().isEmpty()) {
                return super.write(batch);
            }
            List<SettleResult> settled = batch.settlements().stream()
                    .<SettleResult>map(s -> new Settled(clock.now(), clock.now()))
                    .toList();
            return new BatchResult(claim(batch.claims()), settled);
        }
    }),
    FORGETS_TO_AUDIT_SETTLEMENTS((store, clock) ->
            new Audited(store, r -> of(r, r.transition().from() != PROCESSING))),
    FORGETS_TO_AUDIT_CLAIMS((store, clock) ->
            new Audited(store, r -> of(r, r.transition().to() != PROCESSING))),
    FORGETS_TO_AUDIT_EVICTIONS((store, clock) ->
            new Audited(store, r -> of(r, r.transition().to() != null))),
    AUDITS_RESOLUTIONS_TWICE((store, clock) ->
            new Audited(store, r -> r.transition().from() == UNKNOWN ? Stream.of(r, r) : Stream.of(r))),
    AUDITS_THE_OWNER_FOR_THE_OPERATOR((store, clock) -> new Audited(store, r -> Stream.of(by("node-1", r)))),
    AUDITS_LATE((store, clock) ->
            new Audited(store, r -> Stream.of(new AuditRecord(r.number(), r.transition(), r.at().plusNanos(1000))))),
    AUDITS_WHAT_WAS_REFUSED((store, clock) -> new Mutated(store) {
        private final Map<EntryId, AuditRecord> refused = new ConcurrentHashMap<>();

        @Override
        SettleResult change(Settlement s, SettleResult result) {
            if (result instanceof Lost) {
                Transition lost = new Transition(s.id(), "?", PROCESSING, s.to(), 1, "?", s.reason());
                refused.put(s.id(), new AuditRecord(0, lost, clock.now()));
            }
            return result;
        }

        @Override
        public List<AuditRecord> history(EntryId id) {
            return Stream.concat(super.history(id).stream(), Stream.ofNullable(refused.get(id)))
                    .toList();
        }
    }),
    AUDITS_REPEATED_SETTLEMENTS_AGAIN((store, clock) -> new Mutated(store) {
        private final Map<EntryId, UUID> settled = new ConcurrentHashMap<>();
        private final Map<EntryId, AuditRecord> repeated = new ConcurrentHashMap<>();

        @Override
        SettleResult change(Settlement s, SettleResult result) {
            if (result instanceof Settled && s.token().equals(settled.put(s.id(), s.token()))) {
                List<AuditRecord> records = super.history(s.id());
                repeated.put(s.id(), records.get(records.size() - 1));
            }
            return result;
        }

        @Override
        public List<AuditRecord> history(EntryId id) {
            return Stream.concat(super.history(id).stream(), Stream.ofNullable(repeated.get(id)))
                    .toList();
        }
    }),
    FORGETS_THE_AUDIT_OF_WHAT_IS_GONE((store, clock) -> new Mutated(store) {
        @Override
        public List<AuditRecord> history(EntryId id) {
            return entry(id).isPresent() ? super.history(id) : List.of();
        }
    }),
    LISTS_THE_AUDIT_WITHOUT_THE_TENANT((store, clock) -> new Mutated(store) {
        @Override
        public List<AuditRecord> audit(AuditQuery q) {
            return super.audit(new AuditQuery(null, q.from(), q.after(), q.limit()));
        }
    }),
    PURGES_THE_AUDIT_EARLY((store, clock) -> new Mutated(store) {
        @Override
        public int purgeAudit(Duration retention, int limit) {
            return super.purgeAudit(retention.minusDays(1), limit);
        }
    }),
    PURGES_THE_AUDIT_A_MICROSECOND_LATE((store, clock) -> new Mutated(store) {
        @Override
        public int purgeAudit(Duration retention, int limit) {
            return clock.shifted(-1, () -> super.purgeAudit(retention, limit));
        }
    }),
    PURGES_THE_AUDIT_WITHOUT_LIMIT((store, clock) -> new Mutated(store) {
        @Override
        public int purgeAudit(Duration retention, int limit) {
            return super.purgeAudit(retention, Integer.MAX_VALUE);
        }
    });

    private static Stream<AuditRecord> of(AuditRecord record, boolean kept) {
        return kept ? Stream.of(record) : Stream.of();
    }

    private static AuditRecord by(String who, AuditRecord r) {
        Transition t = r.transition();
        return new AuditRecord(
                r.number(), new Transition(t.id(), t.operation(), t.from(), t.to(), t.attempt(), who, t.why()), r.at());
    }

    /** Shows other records in the history of a key than were written. */
    private static final class Audited extends Mutated {
        private final Function<AuditRecord, Stream<AuditRecord>> shown;

        Audited(Store store, Function<AuditRecord, Stream<AuditRecord>> shown) {
            super(store);
            this.shown = shown;
        }

        @Override
        public List<AuditRecord> history(EntryId id) {
            return super.history(id).stream().flatMap(shown).toList();
        }
    }

    private final BiFunction<Store, ShiftedTime, Store> mutation;

    Mutant(BiFunction<Store, ShiftedTime, Store> mutation) {
        this.mutation = mutation;
    }

    /** A store that follows the time, and is broken. */
    Store on(Time time) {
        ShiftedTime clock = new ShiftedTime(time);
        return mutation.apply(new MemoryStore(clock), clock);
    }
}
