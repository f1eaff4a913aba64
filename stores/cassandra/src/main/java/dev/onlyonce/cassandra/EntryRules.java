package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Change.Condition;
import dev.onlyonce.cassandra.Step.Answer;
import dev.onlyonce.cassandra.Step.Attempt;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Transition;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What callers and operators ask for. {@link Life} decides. */
final class EntryRules {
    private EntryRules() {}

    /** One of the rules. */
    private interface Rule<Q, A> {
        Decision<A> decide(@Nullable Entry stored, Q item, StoreTime now);
    }

    /** What the rule says about an entry that was read. */
    private static <Q, A> Step<A> step(
            Changes changes, Rule<Q, A> rule, Q item, @Nullable StoredEntry entry, Moment moment) {
        return step(changes, rule, item, entry, unchanged(entry), moment, usual(entry, moment));
    }

    private static StoreTime usual(@Nullable StoredEntry entry, Moment moment) {
        return StoredEntry.time(entry, moment.now(), moment.now());
    }

    private static Condition unchanged(@Nullable StoredEntry entry) {
        return entry == null ? new Condition.Absent() : Changes.unchanged(entry);
    }

    /** A lease counts from now, even if the entry was made when the clock was ahead. */
    private static StoreTime exactly(Moment moment) {
        return StoreTime.at(Micros.instant(moment.now()));
    }

    private static <Q, A> Step<A> step(
            Changes changes,
            Rule<Q, A> rule,
            Q item,
            @Nullable StoredEntry entry,
            Condition condition,
            Moment moment,
            StoreTime now) {
        Decision<A> decision = rule.decide(entry == null ? null : entry.stored(), item, now);
        return decision instanceof Decision.Change<A> change
                ? new Attempt<>(changes.of(entry, condition, change, moment), change.answer())
                : new Answer<>(decision.answer());
    }

    /** What is to be tried without reading, if the rule changes such an entry. */
    private static <A> Optional<Attempt<A>> attempt(Step<A> step) {
        return step instanceof Attempt<A> attempt ? Optional.of(attempt) : Optional.empty();
    }

    /** Takes a key that most often is new, so it does not read first. */
    record Claim(Changes changes) implements EntryRule<ClaimRequest, ClaimResult> {
        @Override
        public EntryId id(ClaimRequest request) {
            return request.id();
        }

        @Override
        public Optional<Attempt<ClaimResult>> guess(ClaimRequest request, Moment moment) {
            return attempt(decide(request, null, moment));
        }

        @Override
        public Step<ClaimResult> decide(ClaimRequest request, @Nullable StoredEntry entry, Moment moment) {
            boolean isOwn = entry != null
                    && entry.isOpen()
                    && request.token().equals(entry.hold().token());
            return isOwn
                    ? step(changes, Life::claim, request, entry, unchanged(entry), moment, exactly(moment))
                    : step(changes, Life::claim, request, entry, moment);
        }

        @Override
        public Optional<ClaimResult> refused(StoreException failure) {
            return Optional.of(ClaimResult.refused(failure));
        }
    }

    /** Ends a claim, most often one of this node, which knows it. */
    record Settle(Changes changes, OpenClaims claims) implements EntryRule<Settlement, SettleResult> {
        @Override
        public EntryId id(Settlement settlement) {
            return settlement.id();
        }

        @Override
        public Optional<Attempt<SettleResult>> guess(Settlement settlement, Moment moment) {
            return claims.of(settlement.id(), settlement.token())
                    .flatMap(entry -> attempt(step(
                            changes,
                            Life::settle,
                            settlement,
                            entry,
                            Condition.Held.by(entry, settlement.token()),
                            moment,
                            usual(entry, moment))));
        }

        @Override
        public Step<SettleResult> decide(Settlement settlement, @Nullable StoredEntry entry, Moment moment) {
            return step(changes, Life::settle, settlement, entry, moment);
        }

        @Override
        public Optional<SettleResult> refused(StoreException failure) {
            return Optional.of(new SettleResult.Busy());
        }
    }

    /** A heartbeat. */
    record Renew(Changes changes, OpenClaims claims) implements EntryRule<Renewal, RenewResult> {
        @Override
        public EntryId id(Renewal renewal) {
            return renewal.id();
        }

        @Override
        public Optional<Attempt<RenewResult>> guess(Renewal renewal, Moment moment) {
            return claims.of(renewal.id(), renewal.token())
                    .flatMap(entry -> attempt(step(
                            changes,
                            Life::renew,
                            renewal,
                            entry,
                            Condition.Held.by(entry, renewal.token()),
                            moment,
                            exactly(moment))));
        }

        @Override
        public Step<RenewResult> decide(Renewal renewal, @Nullable StoredEntry entry, Moment moment) {
            return step(changes, Life::renew, renewal, entry, unchanged(entry), moment, exactly(moment));
        }

        @Override
        public Optional<RenewResult> refused(StoreException failure) {
            return Optional.of(RenewResult.BUSY);
        }
    }

    /** The end of a doubt. */
    record Resolve(Changes changes) implements EntryRule<Resolution, SettleResult> {
        @Override
        public EntryId id(Resolution resolution) {
            return resolution.id();
        }

        @Override
        public Step<SettleResult> decide(Resolution resolution, @Nullable StoredEntry entry, Moment moment) {
            return step(changes, (stored, r, now) -> Life.resolve(stored, r, false, now), resolution, entry, moment);
        }
    }

    /** An operator's deletion. */
    record Evict(Changes changes, String who, String reason) implements EntryRule<EntryId, Optional<Transition>> {
        @Override
        public EntryId id(EntryId id) {
            return id;
        }

        @Override
        public Step<Optional<Transition>> decide(EntryId id, @Nullable StoredEntry entry, Moment moment) {
            return step(changes, (stored, same, now) -> Life.evict(stored, who, reason, now), id, entry, moment);
        }
    }
}
