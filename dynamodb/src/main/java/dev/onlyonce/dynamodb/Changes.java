package dev.onlyonce.dynamodb;

import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of an item: from the one that is stored, the next one. Nothing here talks to DynamoDB; {@link Table} writes the next item
 * if the stored one has not changed since. Times that are written are the latest that the clock can show, and what is over is judged by
 * the earliest, see {@link StoreClock.Reading}.
 */
record Changes(AuditLevel level) {
    static final String LEASE_RAN_OUT = "the lease ran out";
    static final String NOT_TAKEN = "nobody took it in time";
    static final String SWEEPER = "sweeper";

    /** After every time: unknown entries whose audit is purged stay in the index for the reconciler. */
    private static final long NEVER = 253_402_300_799_000_000L;

    private static final long SECOND = 1_000_000;

    /** The item of a key that has none. */
    Item create(ClaimRequest request, Reading now) {
        return start(Item.Edit.of(request.id()), request, Origin.NEW, now);
    }

    /** Where a claim starts from: the state's code and attempt before it, and when the entry was created if it was. */
    private record Origin(int from, int attempt) {
        static final Origin NEW = new Origin(0, 0);
    }

    /** The item with the request's claim; empty if it cannot take the entry. */
    Optional<Item> claim(Item old, ClaimRequest request, Reading now) {
        State state = old.state();
        if (state == null || old.isGone(now.earliest())) {
            AuditLog log = state == null || isForgotten(old)
                    ? kept(old)
                    : AuditLog.of(old).and(end(old, request.owner(), "its retention is over", now));
            return Optional.of(start(log.into(Item.Edit.of(request.id())), request, Origin.NEW, now));
        }
        if (state == request.start() && old.hasToken(request.token())) {
            long lease = now.latest() + old.number(Attribute.LEASE) * 1000;
            return Optional.of(old.edit()
                    .set(Attribute.LEASE_UNTIL, lease)
                    .due(Due.LEASE, lease)
                    .done());
        }
        boolean free = state == State.PENDING || state == State.RETRYABLE;
        if (request.start() == State.PROCESSING && free && isSame(old, request)) {
            Item.Edit edit = AuditLog.of(old).into(old.edit());
            return Optional.of(start(edit, request, new Origin(state.code(), old.attempt()), now));
        }
        return Optional.empty();
    }

    private static boolean isSame(Item old, ClaimRequest request) {
        return old.text(Attribute.OPERATION).equals(request.operation())
                && Arrays.equals(old.bytes(Attribute.FINGERPRINT), Item.bytes(request.fingerprint()));
    }

    private static Item start(Item.Edit edit, ClaimRequest request, Origin origin, Reading now) {
        Terms terms = request.terms();
        boolean executes = request.start() == State.PROCESSING;
        long lease = now.latest() + Item.micros(terms.lease());
        long keptSeconds = (Item.micros(terms.retention().plus(terms.tombstone())) + SECOND - 1) / SECOND;
        if (origin.from == 0) {
            edit.set(Attribute.CREATED, now.latest())
                    .set(Attribute.OPERATION, request.operation())
                    .set(Attribute.FINGERPRINT, Item.value(Item.bytes(request.fingerprint())));
            String target = request.fingerprint().target();
            if (target != null) {
                edit.set(Attribute.TARGET, target);
            }
        }
        return edit.set(Attribute.STATE, request.start().code())
                .set(Attribute.TOKEN, Item.value(Item.bytes(request.token())))
                .set(Attribute.OWNER, request.owner())
                .set(Attribute.ATTEMPT, origin.attempt + (executes ? 1 : 0))
                .set(Attribute.LEASE, terms.lease().toMillis())
                .set(Attribute.ON_LEASE_LOST, terms.onLeaseLost().code())
                .set(Attribute.RETENTION, Item.micros(terms.retention()))
                .set(Attribute.TOMBSTONE, Item.micros(terms.tombstone()))
                .set(Attribute.KEPT_SECONDS, keptSeconds)
                .set(Attribute.LEASE_UNTIL, lease)
                .set(Attribute.CLAIMED_FROM, origin.from)
                .set(Attribute.CLAIMED_TO, request.start().code())
                .set(Attribute.CLAIMED_AT, now.latest())
                .remove(Attribute.SETTLED, Attribute.EXPIRES, Attribute.RESULT, Attribute.TTL)
                .due(Due.LEASE, lease)
                .done();
    }

    /** The item with the settlement; empty if it is recorded already, or the claim was lost. */
    Optional<Item> settle(Item old, Settlement s, Reading now) {
        return old.state() == State.PROCESSING && old.hasToken(s.token())
                ? Optional.of(settled(old, old.edit(), s.to(), s.result(), now, null, s.reason()))
                : Optional.empty();
    }

    /** The item with the finding; empty if it is not about this entry as it is now. */
    Optional<Item> resolve(Item old, Resolution r, Reading now) {
        boolean about = old.state() == State.UNKNOWN
                && old.attempt() == r.attempt()
                && r.isAbout(Item.instant(old.number(Attribute.CREATED)));
        if (!about) {
            return Optional.empty();
        }
        Item.Edit edit = AuditLog.of(old).into(old.edit()).remove(Attribute.TOKEN);
        return Optional.of(settled(old, edit, r.to(), r.result(), now, r.who(), r.reason()));
    }

    /** The item without its abandoned claim; empty if it has none. */
    Optional<Item> sweep(Item old, Reading now) {
        State state = old.state();
        boolean waits = state == State.PENDING || state == State.PROCESSING;
        if (!waits || old.number(Attribute.LEASE_UNTIL) > now.earliest()) {
            return Optional.empty();
        }
        boolean pending = state == State.PENDING;
        State to = pending
                ? State.FAILED
                : OnLeaseLost.of((int) old.number(Attribute.ON_LEASE_LOST)).next();
        Item.Edit edit = old.edit().remove(Attribute.TOKEN);
        return Optional.of(settled(old, edit, to, null, now, SWEEPER, pending ? NOT_TAKEN : LEASE_RAN_OUT));
    }

    private Item settled(
            Item old,
            Item.Edit edit,
            State to,
            byte @Nullable [] result,
            Reading now,
            @Nullable String who,
            String why) {
        long at = now.latest();
        edit.set(Attribute.STATE, to.code())
                .set(Attribute.SETTLED, at)
                .set(Attribute.SETTLED_FROM, old.number(Attribute.STATE))
                .set(Attribute.SETTLED_TO, to.code())
                .set(Attribute.SETTLED_WHY, why)
                .setOrRemove(Attribute.RESULT, result);
        if (who != null) {
            edit.set(Attribute.SETTLED_BY, who);
        }
        if (to == State.UNKNOWN) {
            return edit.due(Due.UNKNOWN, oldest(AuditLog.of(old))).done();
        }
        long expires = at + old.number(Attribute.RETENTION);
        Item next = edit.set(Attribute.EXPIRES, expires).due(Due.PURGE, expires).done();
        return isForgotten(next)
                ? next.edit()
                        .remove(Attribute.DUE_KIND, Attribute.DUE_AT)
                        .set(Attribute.TTL, ttl(now) + old.number(Attribute.KEPT_SECONDS))
                        .done()
                : next;
    }

    /** The first second in which native TTL may delete something that ends now. */
    static long ttl(Reading now) {
        return now.latest() / SECOND + 1;
    }

    /** The rest of an expired entry: a tombstone, or its audit. */
    sealed interface Rest {
        /** This is left. */
        record Left(Item item) implements Rest {}

        /** Nothing is left. */
        record Nothing() implements Rest {}
    }

    /** What a purge makes of the item; empty if it is not due. */
    Optional<Rest> purge(Item old, Reading now) {
        State state = old.state();
        if (state == null || !old.has(Attribute.EXPIRES) || old.number(Attribute.EXPIRES) > now.earliest()) {
            return Optional.empty();
        }
        if (old.isGone(now.earliest())) {
            return Optional.of(rest(old, kept(old)));
        }
        return state == State.EXPIRED
                ? Optional.empty()
                : Optional.of(new Rest.Left(old.edit()
                        .set(Attribute.STATE, State.EXPIRED.code())
                        .remove(Attribute.RESULT)
                        .due(Due.PURGE, old.ending())
                        .done()));
    }

    /** The audit of an evicted entry; empty if it cannot be evicted. */
    Optional<Item> evict(Item old, String who, String reason, Reading now) {
        State shown = old.shown(now.earliest());
        if (shown == null || !shown.isPurgeable()) {
            return Optional.empty();
        }
        AuditLog log = AuditLog.of(old).and(end(old, AuditText.who(who), AuditText.why(reason), now));
        return rest(old, log) instanceof Rest.Left left ? Optional.of(left.item) : Optional.empty();
    }

    private static AuditLog.Step end(Item old, String who, String why, Reading now) {
        return new AuditLog.Step(
                old.number(Attribute.STATE), 0, old.attempt(), now.latest(), old.text(Attribute.OPERATION), who, why);
    }

    /** An item without the oldest records of its audit; how many those are. */
    record Trimmed(int count, Rest rest) {}

    /** Removes records up to this time, at most {@code max}. */
    Trimmed trim(Item old, long until, int max) {
        AuditLog log = AuditLog.of(old);
        int count = (int) log.records().stream()
                .limit(max)
                .takeWhile(step -> step.at() <= until)
                .count();
        AuditLog left = log.without(count);
        if (old.state() == null) {
            return new Trimmed(count, rest(old, left));
        }
        return new Trimmed(
                count,
                new Rest.Left(
                        left.into(old.edit()).due(Due.UNKNOWN, oldest(left)).done()));
    }

    private static Rest rest(Item old, AuditLog log) {
        return log.records().isEmpty()
                ? new Rest.Nothing()
                : new Rest.Left(log.into(Item.Edit.of(old.id()))
                        .set(Attribute.STATE, 0)
                        .due(Due.AUDIT, oldest(log))
                        .done());
    }

    private static long oldest(AuditLog log) {
        return log.records().isEmpty() ? NEVER : log.records().get(0).at();
    }

    /** What the audit keeps of an entry that ends. */
    private AuditLog kept(Item old) {
        return isForgotten(old) ? new AuditLog(List.of(), 0) : AuditLog.of(old);
    }

    /** Whether the record of this life ends with its entry, which is then left to native TTL. */
    private boolean isForgotten(Item item) {
        return level == AuditLevel.EXCEPTIONS
                && !item.has(Attribute.LOG)
                && !item.has(Attribute.SETTLED_BY)
                && item.number(Attribute.SETTLED_FROM, 0) == State.PROCESSING.code()
                && item.number(Attribute.SETTLED_TO) != State.RETRYABLE.code()
                && item.number(Attribute.SETTLED_TO) != State.UNKNOWN.code()
                && item.number(Attribute.SETTLED) <= item.number(Attribute.LEASE_UNTIL);
    }
}
