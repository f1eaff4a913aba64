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
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The changes that entries go through, each with its audit records and index rows. */
record Changes(Expiry expiry) {
    private static final String CLAIMED = "claimed";

    /** A new entry, in place of one that is past everything, if there is one. */
    Change begin(ClaimRequest request, @Nullable StoredEntry over, Moment moment) {
        StoredEntry entry = StoredEntry.claimed(request, moment, UUID.randomUUID());
        List<Audited> records = new ArrayList<>();
        List<IndexRow> before = new ArrayList<>(List.of(lease(entry), all(entry)));
        List<IndexRow> after = new ArrayList<>();
        if (over != null) {
            Who end = new Who(over.life().operation(), over.hold().attempt(), request.owner(), "its retention is over");
            records.add(new Audited(UUID.randomUUID(), over.state(), null, end, moment.now()));
            before.add(audited(entry, moment.now(), moment.shard()));
            after.add(all(over));
        }
        String why = request.start() == State.PENDING ? "accepted" : CLAIMED;
        records.add(record(entry, null, entry.hold().owner(), why, moment.now()));
        Condition condition = over == null
                ? new Condition.Absent()
                : new Condition.Unchanged(over.standing().change());
        return new Change(request.id(), condition, new Write.Entry(entry, Ttl.NONE), records, new Index(before, after));
    }

    /** The next attempt on a pending or retryable entry. */
    Change take(ClaimRequest request, StoredEntry from, Moment moment) {
        long at = from.notBefore(moment.now());
        StoredEntry entry = from.taken(request, at, UUID.randomUUID());
        List<IndexRow> after = from.isOpen() ? List.of(lease(from)) : List.of();
        return new Change(
                request.id(),
                new Condition.Unchanged(from.standing().change()),
                new Write.Entry(entry, Ttl.NONE),
                List.of(record(entry, from.state(), entry.hold().owner(), CLAIMED, at)),
                new Index(List.of(lease(entry), audited(entry, at, moment.shard())), after));
    }

    /** A lease that counts from now. */
    Change renew(StoredEntry from, Condition condition, Duration lease, Moment moment) {
        StoredEntry entry = from.renewed(lease, moment.now(), UUID.randomUUID());
        return new Change(
                from.id(),
                condition,
                new Write.Lease(entry),
                List.of(),
                new Index(List.of(lease(entry)), List.of(lease(from))));
    }

    /** The end of a claim, of an abandoned entry or of a doubt. */
    Change settle(StoredEntry from, StoredEntry entry, Condition condition, Who who, Moment moment) {
        long at = Objects.requireNonNull(entry.standing().settled());
        Ttl ttl = expiry.ttl(entry, moment.now());
        IndexRow next = entry.state() == State.UNKNOWN ? unknown(entry) : expiry(entry, ttl, moment.shard());
        IndexRow over = from.state() == State.UNKNOWN ? unknown(from) : lease(from);
        return new Change(
                from.id(),
                condition,
                new Write.Entry(entry, ttl),
                List.of(new Audited(entry.standing().change(), from.state(), entry.state(), who, at)),
                new Index(List.of(next, audited(entry, at, moment.shard())), List.of(over)));
    }

    /** An operator's deletion. */
    Change evict(StoredEntry from, Who who, Moment moment) {
        long at = from.notBefore(moment.now());
        return new Change(
                from.id(),
                new Condition.Unchanged(from.standing().change()),
                new Write.Delete(),
                List.of(new Audited(UUID.randomUUID(), from.state(), null, who, at)),
                new Index(List.of(audited(from, at, moment.shard())), List.of(all(from))));
    }

    /** The deletion of an entry that is past everything; not audited, but proven for a while, so that it is counted once. */
    Change purge(StoredEntry from, Due row) {
        return new Change(
                from.id(),
                new Condition.Unchanged(from.standing().change()),
                new Write.Delete(),
                List.of(Audited.proof()),
                new Index(List.of(), List.of(all(from), row)));
    }

    /** The end of retention: a tombstone remains; not audited. */
    Change bury(StoredEntry from, Due row, Moment moment) {
        StoredEntry entry = from.buried(UUID.randomUUID());
        Ttl ttl = expiry.ttl(entry, moment.now());
        return new Change(
                from.id(),
                new Condition.Unchanged(from.standing().change()),
                new Write.Entry(entry, ttl),
                List.of(),
                new Index(List.of(expiry(entry, ttl, moment.shard())), List.of(row)));
    }

    private static Audited record(StoredEntry entry, @Nullable State from, String who, String why, long at) {
        Who by = new Who(entry.life().operation(), entry.hold().attempt(), who, why);
        return new Audited(entry.standing().change(), from, entry.state(), by, at);
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
