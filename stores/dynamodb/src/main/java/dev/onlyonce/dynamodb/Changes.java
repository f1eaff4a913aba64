package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Decision.Change;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Transition;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is stored after a change that {@link dev.onlyonce.store.Life} has decided: the entry, the audit of its key, and when it is looked at
 * next. Nothing here talks to DynamoDB; {@link Table} writes the next item if the stored one has not changed since.
 */
record Changes(AuditLevel level) {
    /** After every time: unknown entries whose audit is purged stay in the index for the reconciler. */
    private static final long NEVER = 253_402_300_799_000_000L;

    private static final long SECOND = 1_000_000;

    /** What is left of an item. */
    sealed interface Rest {
        /** This is left. */
        record Left(Item item) implements Rest {}

        /** Nothing is left. */
        record Nothing() implements Rest {}
    }

    /** The item after a change, from the one before it, if there is one. */
    Rest after(@Nullable Item old, Change<?> change) {
        Entry next = change.next();
        if (old == null) {
            Entry created = Objects.requireNonNull(next, "a change makes something");
            return new Rest.Left(claimed(Item.Edit.of(created.id()), created, 0));
        }
        if (next == null) {
            return rest(old, change.audit().isEmpty() ? kept(old) : logged(old, change.audit(), change));
        }
        return new Rest.Left(changed(old, next, change));
    }

    private Item changed(Item old, Entry next, Change<?> change) {
        List<Transition> audit = change.audit();
        if (audit.isEmpty()) {
            return next.state() == State.EXPIRED ? buried(old, next) : leased(old, next);
        }
        Transition last = audit.get(audit.size() - 1);
        State from = last.from();
        if (from == null) {
            List<Transition> end = audit.subList(0, audit.size() - 1);
            AuditLog log = isForgotten(old) ? kept(old) : logged(old, end, change);
            return claimed(log.into(Item.Edit.of(next.id())), next, 0);
        }
        return next.settledAt() == null
                ? claimed(AuditLog.of(old).into(old.edit()), next, from.code())
                : settled(old, next, last, change);
    }

    private static Item claimed(Item.Edit edit, Entry next, int from) {
        Terms terms = next.terms();
        long lease = Item.micros(next.leaseUntil());
        long keptSeconds = (Item.micros(terms.retention().plus(terms.tombstone())) + SECOND - 1) / SECOND;
        String target = next.fingerprint().target();
        if (target != null) {
            edit.set(Attribute.TARGET, target);
        }
        return edit.set(Attribute.CREATED, Item.micros(next.createdAt()))
                .set(Attribute.OPERATION, next.operation())
                .set(Attribute.FINGERPRINT, Item.value(Item.bytes(next.fingerprint())))
                .set(Attribute.STATE, next.state().code())
                .setOrRemove(Attribute.TOKEN, token(next))
                .set(Attribute.OWNER, next.owner())
                .set(Attribute.ATTEMPT, next.attempt())
                .set(Attribute.LEASE, terms.lease().toMillis())
                .set(Attribute.ON_LEASE_LOST, terms.onLeaseLost().code())
                .set(Attribute.RETENTION, Item.micros(terms.retention()))
                .set(Attribute.TOMBSTONE, Item.micros(terms.tombstone()))
                .set(Attribute.KEPT_SECONDS, keptSeconds)
                .set(Attribute.LEASE_UNTIL, lease)
                .set(Attribute.CLAIMED_FROM, from)
                .set(Attribute.CLAIMED_TO, next.state().code())
                .set(Attribute.CLAIMED_AT, Item.micros(next.readAt()))
                .remove(Attribute.SETTLED, Attribute.EXPIRES, Attribute.RESULT, Attribute.TTL)
                .due(IndexKind.LEASE, lease)
                .done();
    }

    private static byte @Nullable [] token(Entry entry) {
        return entry.token() == null ? null : Item.bytes(entry.token());
    }

    private static Item leased(Item old, Entry next) {
        long lease = Item.micros(next.leaseUntil());
        return old.edit()
                .set(Attribute.LEASE_UNTIL, lease)
                .due(IndexKind.LEASE, lease)
                .done();
    }

    private static Item buried(Item old, Entry next) {
        long gone = Item.micros(Life.goneAt(next).orElseThrow());
        return old.edit()
                .set(Attribute.STATE, State.EXPIRED.code())
                .remove(Attribute.RESULT)
                .due(IndexKind.PURGE, gone)
                .done();
    }

    private Item settled(Item old, Entry next, Transition end, Change<?> change) {
        Item.Edit edit = old.has(Attribute.SETTLED_FROM) ? AuditLog.of(old).into(old.edit()) : old.edit();
        edit.set(Attribute.STATE, next.state().code())
                .setOrRemove(Attribute.TOKEN, token(next))
                .set(Attribute.SETTLED, Item.micros(change.at()))
                .set(Attribute.SETTLED_FROM, old.number(Attribute.STATE))
                .set(Attribute.SETTLED_TO, next.state().code())
                .set(Attribute.SETTLED_WHY, end.why())
                .setOrRemove(Attribute.RESULT, next.result());
        if (!end.who().equals(next.owner())) {
            edit.set(Attribute.SETTLED_BY, end.who());
        }
        Instant expiresAt = next.expiresAt();
        if (expiresAt == null) {
            return edit.due(IndexKind.UNKNOWN, oldest(AuditLog.of(old))).done();
        }
        long expires = Item.micros(expiresAt);
        Item settled = edit.set(Attribute.EXPIRES, expires)
                .due(IndexKind.PURGE, expires)
                .done();
        return isForgotten(settled)
                ? settled.edit()
                        .remove(Attribute.DUE_KIND, Attribute.DUE_AT)
                        .set(Attribute.TTL, ttl(Item.micros(change.at())) + old.number(Attribute.KEPT_SECONDS))
                        .done()
                : settled;
    }

    /** The first second in which native TTL may delete something that ends now. */
    static long ttl(long now) {
        return now / SECOND + 1;
    }

    private static AuditLog logged(Item old, List<Transition> audit, Change<?> change) {
        AuditLog log = AuditLog.of(old);
        for (Transition step : audit) {
            log = log.and(AuditLog.Step.of(step, Item.micros(change.at())));
        }
        return log;
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
                new Rest.Left(left.into(old.edit())
                        .due(IndexKind.UNKNOWN, oldest(left))
                        .done()));
    }

    private static Rest rest(Item old, AuditLog log) {
        return log.records().isEmpty()
                ? new Rest.Nothing()
                : new Rest.Left(log.into(Item.Edit.of(old.id()))
                        .set(Attribute.STATE, 0)
                        .due(IndexKind.AUDIT, oldest(log))
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
