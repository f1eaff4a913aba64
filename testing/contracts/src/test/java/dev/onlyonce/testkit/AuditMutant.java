package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.UNKNOWN;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/** Stores that break one rule each of the audit: what is recorded, shown and purged. */
@SuppressWarnings("ImmutableEnumChecker")
enum AuditMutant implements WrappingMutant {
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
    AUDITS_THE_REAPER((store, clock) -> new Mutated(store) {
        private volatile boolean hasPurged;

        @Override
        public int purge(int limit) {
            int purged = super.purge(limit);
            hasPurged |= purged > 0;
            return purged;
        }

        @Override
        public List<AuditRecord> history(EntryId id) {
            List<AuditRecord> records = super.history(id);
            boolean gone = hasPurged && !records.isEmpty() && entry(id).isEmpty();
            return gone
                    ? Stream.concat(records.stream(), Stream.of(by("purge", records.get(0))))
                            .toList()
                    : records;
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

    private final BiFunction<Store, ShiftedTime, Store> mutation;

    AuditMutant(BiFunction<Store, ShiftedTime, Store> mutation) {
        this.mutation = mutation;
    }

    @Override
    public Store mutate(Store store, ShiftedTime clock) {
        return mutation.apply(store, clock);
    }

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
}
