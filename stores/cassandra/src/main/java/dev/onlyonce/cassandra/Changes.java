package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Change.Audited;
import dev.onlyonce.cassandra.Change.Condition;
import dev.onlyonce.cassandra.Change.Index;
import dev.onlyonce.cassandra.Change.Ttl;
import dev.onlyonce.cassandra.Change.Who;
import dev.onlyonce.cassandra.Change.Write;
import dev.onlyonce.cassandra.IndexRow.Due;
import dev.onlyonce.cassandra.IndexRow.Kind;
import dev.onlyonce.cassandra.IndexRow.Listed;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Tokens;
import dev.onlyonce.store.Transition;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The changes that {@link dev.onlyonce.store.Life} has decided, each with its audit records and index rows. */
record Changes(Expiry expiry) {

    /**
     * The change that was decided about an entry.
     *
     * @param from null if there is none
     */
    Change of(@Nullable StoredEntry from, Condition condition, Decision.Change<?> decided, Moment moment) {
        List<Transition> audit = decided.audit();
        Entry next = decided.next();
        if (from == null) {
            return begin(Objects.requireNonNull(next), null, decided, moment);
        }
        if (next == null) {
            return evict(from, decided, moment);
        }
        if (audit.isEmpty()) {
            return renew(from, from.changed(next, Tokens.next()), condition);
        }
        if (audit.get(audit.size() - 1).from() == null) {
            return begin(next, from, decided, moment);
        }
        return next.settledAt() == null
                ? take(from, from.changed(next, Tokens.next()), decided, moment)
                : settle(from, from.changed(next, Tokens.next()), condition, decided, moment);
    }

    /** A new entry, in place of one that is past everything, if there is one. */
    private Change begin(Entry next, @Nullable StoredEntry over, Decision.Change<?> decided, Moment moment) {
        StoredEntry entry = StoredEntry.created(next, moment, Tokens.next());
        List<IndexRow> before = new ArrayList<>(List.of(lease(entry), all(entry)));
        List<IndexRow> after = new ArrayList<>();
        if (over != null) {
            before.add(audited(entry, Micros.of(decided.at()), moment.shard()));
            after.add(all(over));
        }
        Condition condition = over == null ? new Condition.Absent() : unchanged(over);
        return new Change(
                next.id(),
                condition,
                new Write.Entry(entry, Ttl.NONE),
                records(entry, decided),
                new Index(before, after));
    }

    /** The next attempt on a pending or retryable entry. */
    private Change take(StoredEntry from, StoredEntry entry, Decision.Change<?> decided, Moment moment) {
        List<IndexRow> after = from.isOpen() ? List.of(lease(from)) : List.of();
        IndexRow audited = audited(entry, Micros.of(decided.at()), moment.shard());
        return new Change(
                from.id(),
                unchanged(from),
                new Write.Entry(entry, Ttl.NONE),
                records(entry, decided),
                new Index(List.of(lease(entry), audited), after));
    }

    /** Another end of its lease. */
    private static Change renew(StoredEntry from, StoredEntry entry, Condition condition) {
        return new Change(
                from.id(),
                condition,
                new Write.Lease(entry),
                List.of(),
                new Index(List.of(lease(entry)), List.of(lease(from))));
    }

    /** The end of a claim, of an abandoned entry or of a doubt. */
    private Change settle(
            StoredEntry from, StoredEntry entry, Condition condition, Decision.Change<?> decided, Moment moment) {
        Ttl ttl = expiry.ttl(entry, moment.now());
        IndexRow next = entry.state() == State.UNKNOWN ? unknown(entry) : expiry(entry, ttl, moment.shard());
        IndexRow over = from.state() == State.UNKNOWN ? unknown(from) : lease(from);
        IndexRow audited = audited(entry, Micros.of(decided.at()), moment.shard());
        return new Change(
                from.id(),
                condition,
                new Write.Entry(entry, ttl),
                records(entry, decided),
                new Index(List.of(next, audited), List.of(over)));
    }

    /** An operator's deletion. */
    private static Change evict(StoredEntry from, Decision.Change<?> decided, Moment moment) {
        IndexRow audited = audited(from, Micros.of(decided.at()), moment.shard());
        return new Change(
                from.id(),
                unchanged(from),
                new Write.Delete(),
                records(null, decided),
                new Index(List.of(audited), List.of(all(from))));
    }

    static Condition unchanged(StoredEntry entry) {
        return new Condition.Unchanged(entry.standing().change());
    }

    /** The deletion of an entry that is past everything; not audited, but proven for a while, so that it is counted once. */
    Change purge(StoredEntry from, Due row) {
        return new Change(
                from.id(),
                unchanged(from),
                new Write.Delete(),
                List.of(Audited.proof()),
                new Index(List.of(), List.of(all(from), row)));
    }

    /** The end of retention: a tombstone remains; not audited. */
    Change bury(StoredEntry from, Entry tombstone, Due row, Moment moment) {
        StoredEntry entry = from.changed(tombstone, Tokens.next());
        Ttl ttl = expiry.ttl(entry, moment.now());
        return new Change(
                from.id(),
                unchanged(from),
                new Write.Entry(entry, ttl),
                List.of(),
                new Index(List.of(expiry(entry, ttl, moment.shard())), List.of(row)));
    }

    /** The audit's records; the one of the change that led to the entry has its id. */
    private static List<Audited> records(@Nullable StoredEntry entry, Decision.Change<?> decided) {
        List<Audited> records = new ArrayList<>();
        for (Transition step : decided.audit()) {
            UUID id = entry == null || step.to() == null
                    ? Tokens.next()
                    : entry.standing().change();
            Who who = new Who(step.operation(), step.attempt(), step.who(), step.why());
            records.add(new Audited(id, step.from(), step.to(), who, Micros.of(decided.at())));
        }
        return records;
    }

    /** The row that leads to an open entry when its lease ends; its mark is the change that gave the lease. */
    static Due lease(StoredEntry entry) {
        return due(Kind.LEASE, entry.life().shard(), entry.hold().leaseUntil(), entry);
    }

    private Due expiry(StoredEntry entry, Ttl ttl, int shard) {
        return new Due(
                Kind.EXPIRY,
                shard,
                expiry.purgeAt(entry, ttl),
                entry.id(),
                entry.life().mark(),
                entry.life().shard());
    }

    private static Due audited(StoredEntry entry, long at, int shard) {
        return due(Kind.AUDIT, shard, at, entry);
    }

    private static Due due(Kind kind, int shard, long at, StoredEntry entry) {
        return new Due(
                kind,
                shard,
                at,
                entry.id(),
                entry.standing().change(),
                entry.life().shard());
    }

    static Listed all(StoredEntry entry) {
        return new Listed(
                IndexRow.List.ALL,
                entry.life().shard(),
                entry.id(),
                entry.life().mark());
    }

    /** Nothing but a resolution changes an unknown entry, so its change is still the one that made it unknown. */
    private static Listed unknown(StoredEntry entry) {
        return new Listed(
                IndexRow.List.UNKNOWN,
                entry.life().shard(),
                entry.id(),
                entry.standing().change());
    }
}
