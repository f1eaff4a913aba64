package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Change.Condition;
import dev.onlyonce.cassandra.Change.Who;
import dev.onlyonce.cassandra.Step.Answer;
import dev.onlyonce.cassandra.Step.Attempt;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What callers and operators ask for. */
final class Verbs {
    private Verbs() {}

    private static @Nullable StoredEntry live(@Nullable StoredEntry entry, Moment moment) {
        return entry == null || entry.isGone(moment.now()) ? null : entry;
    }

    private static SettleResult lost(@Nullable StoredEntry live, Moment moment) {
        return new SettleResult.Lost(live == null ? null : live.shown(moment.now()));
    }

    /** Takes a key that most often is new, so it does not read first. */
    record Claim(Changes changes) implements Verb<ClaimRequest, ClaimResult> {
        @Override
        public EntryId id(ClaimRequest request) {
            return request.id();
        }

        @Override
        public Optional<Attempt<ClaimResult>> guess(ClaimRequest request, Moment moment) {
            return Optional.of(begin(request, null, moment));
        }

        private Attempt<ClaimResult> begin(ClaimRequest request, @Nullable StoredEntry over, Moment moment) {
            return new Attempt<>(
                    changes.begin(request, over, moment),
                    new ClaimResult.Claimed(request.start() == State.PROCESSING ? 1 : 0));
        }

        @Override
        public Step<ClaimResult> decide(ClaimRequest request, @Nullable StoredEntry entry, Moment moment) {
            StoredEntry live = live(entry, moment);
            if (live == null) {
                return begin(request, entry, moment);
            }
            if (live.state() == request.start()
                    && request.token().equals(live.hold().token())) {
                Condition same = new Condition.Unchanged(live.standing().change());
                return new Attempt<>(
                        changes.renew(live, same, live.hold().terms().lease(), moment),
                        new ClaimResult.Claimed(live.hold().attempt()));
            }
            if (request.start() == State.PROCESSING
                    && live.state().canBecome(State.PROCESSING)
                    && live.life().operation().equals(request.operation())
                    && live.life().fingerprint().matches(request.fingerprint())) {
                return new Attempt<>(
                        changes.take(request, live, moment),
                        new ClaimResult.Claimed(live.hold().attempt() + 1));
            }
            return new Answer<>(new ClaimResult.Existing(live.read(moment.now())));
        }

        @Override
        public Optional<ClaimResult> refused(StoreException failure) {
            return Optional.of(ClaimResult.refused(failure));
        }
    }

    /** Ends a claim, most often one of this node, which knows it. */
    record Settle(Changes changes, Claims claims) implements Verb<Settlement, SettleResult> {
        @Override
        public EntryId id(Settlement settlement) {
            return settlement.id();
        }

        @Override
        public Optional<Attempt<SettleResult>> guess(Settlement settlement, Moment moment) {
            return claims.of(settlement.id(), settlement.token()).map(entry -> settle(settlement, entry, moment));
        }

        private Attempt<SettleResult> settle(Settlement settlement, StoredEntry from, Moment moment) {
            long at = from.notBefore(moment.now());
            StoredEntry entry = from.settled(settlement.to(), settlement.result(), at, UUID.randomUUID());
            Who who = new Who(
                    from.life().operation(), from.hold().attempt(), from.hold().owner(), settlement.reason());
            Change change = changes.settle(from, entry, new Condition.Held(settlement.token()), who, moment);
            return new Attempt<>(change, entry.outcome());
        }

        @Override
        public Step<SettleResult> decide(Settlement settlement, @Nullable StoredEntry entry, Moment moment) {
            StoredEntry live = live(entry, moment);
            if (live == null || !settlement.token().equals(live.hold().token())) {
                return new Answer<>(lost(live, moment));
            }
            if (live.state() == State.PROCESSING) {
                return settle(settlement, live, moment);
            }
            return new Answer<>(live.state() == settlement.to() ? live.outcome() : lost(live, moment));
        }

        @Override
        public Optional<SettleResult> refused(StoreException failure) {
            return Optional.of(new SettleResult.Busy());
        }
    }

    /** A heartbeat. */
    record Renew(Changes changes, Claims claims) implements Verb<Renewal, RenewResult> {
        @Override
        public EntryId id(Renewal renewal) {
            return renewal.id();
        }

        @Override
        public Optional<Attempt<RenewResult>> guess(Renewal renewal, Moment moment) {
            return claims.of(renewal.id(), renewal.token()).map(entry -> renew(renewal, entry, moment));
        }

        private Attempt<RenewResult> renew(Renewal renewal, StoredEntry from, Moment moment) {
            Condition held = new Condition.Held(renewal.token());
            return new Attempt<>(changes.renew(from, held, renewal.lease(), moment), RenewResult.RENEWED);
        }

        @Override
        public Step<RenewResult> decide(Renewal renewal, @Nullable StoredEntry entry, Moment moment) {
            return entry != null
                            && entry.state() == State.PROCESSING
                            && renewal.token().equals(entry.hold().token())
                    ? renew(renewal, entry, moment)
                    : new Answer<>(RenewResult.LOST);
        }

        @Override
        public Optional<RenewResult> refused(StoreException failure) {
            return Optional.of(RenewResult.BUSY);
        }
    }

    /** The end of a doubt. */
    record Resolve(Changes changes) implements Verb<Resolution, SettleResult> {
        @Override
        public EntryId id(Resolution resolution) {
            return resolution.id();
        }

        @Override
        public Step<SettleResult> decide(Resolution resolution, @Nullable StoredEntry entry, Moment moment) {
            StoredEntry live = live(entry, moment);
            if (live == null
                    || live.state() != State.UNKNOWN
                    || live.hold().attempt() != resolution.attempt()
                    || !resolution.isAbout(Micros.instant(live.life().created()))) {
                return new Answer<>(lost(live, moment));
            }
            long at = live.notBefore(moment.now());
            StoredEntry after = live.settled(resolution.to(), resolution.result(), at, UUID.randomUUID())
                    .fenced();
            Who who = new Who(live.life().operation(), live.hold().attempt(), resolution.who(), resolution.reason());
            Condition same = new Condition.Unchanged(live.standing().change());
            return new Attempt<>(changes.settle(live, after, same, who, moment), after.outcome());
        }
    }

    /** An operator's deletion. */
    record Evict(Changes changes, String who, String reason) implements Verb<EntryId, Optional<Transition>> {
        @Override
        public EntryId id(EntryId id) {
            return id;
        }

        @Override
        public Step<Optional<Transition>> decide(EntryId id, @Nullable StoredEntry entry, Moment moment) {
            StoredEntry live = live(entry, moment);
            if (live == null || !live.state().isPurgeable()) {
                return new Answer<>(Optional.empty());
            }
            int attempt = live.hold().attempt();
            String operation = live.life().operation();
            Who by = new Who(operation, attempt, AuditText.who(who), AuditText.why(reason));
            Transition transition = new Transition(id, operation, live.shown(moment.now()), null, attempt, who, reason);
            return new Attempt<>(changes.evict(live, by, moment), Optional.of(transition));
        }
    }
}
