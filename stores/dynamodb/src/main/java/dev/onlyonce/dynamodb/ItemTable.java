package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Due;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.EntryTable;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * Entries as items. The revision of a row is its item; a list is as many requests in parallel. What is due is found in the index, which
 * is late by moments, so it is read from the table.
 *
 * @param lastSweep the service's clock when leases were last looked at
 */
record ItemTable(
        Table table,
        DueIndex index,
        Changes changes,
        StoreClock clock,
        Listing listing,
        AuditPurge purge,
        AtomicLong lastSweep)
        implements EntryTable {
    /** More than the bounds of the clock move by themselves. */
    private static final Duration BACK = Duration.ofSeconds(5);

    /** How many items are read at once. */
    private static final int TOGETHER = 100;

    @Override
    public StoreTime now() {
        return clock.now().time();
    }

    @Override
    public List<Row> read(List<EntryId> ids) {
        List<Optional<Item>> items =
                Reads.all(ids.stream().map(id -> table.get(ItemKey.of(id))).toList());
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            rows.add(row(ids.get(i), items.get(i)));
        }
        return rows;
    }

    static Row row(EntryId id, Optional<Item> item) {
        return item.map(found -> new Row(id, found.stored(), found)).orElse(Row.absent(id));
    }

    @Override
    public List<Written> write(List<Write> writes) {
        List<CompletableFuture<Table.Outcome>> sent =
                writes.stream().map(this::send).toList();
        List<Written> results = new ArrayList<>();
        for (int i = 0; i < writes.size(); i++) {
            results.add(result(writes.get(i).row().id(), sent.get(i)));
        }
        return results;
    }

    private CompletableFuture<Table.Outcome> send(Write write) {
        Item old = (Item) write.row().revision();
        try {
            return old == null
                    ? table.write(null, changes.after(null, write.change()))
                    : old.read(stored -> table.write(stored, changes.after(stored, write.change())));
        } catch (StoreException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static Written result(EntryId id, CompletableFuture<Table.Outcome> sent) {
        try {
            return sent.join() instanceof Table.Outcome.Refused refused
                    ? new Written.Overtaken(row(id, refused.now()))
                    : new Written.Done();
        } catch (CompletionException | StoreException e) {
            return new Written.Failed(ServiceFailure.of(e));
        }
    }

    @Override
    public List<Row> due(Due due, StoreTime now, int limit) {
        return switch (due) {
            case LEASE -> due(IndexKind.LEASE, due, now, limit);
            case RETENTION -> due(IndexKind.PURGE, due, now, limit);
            case FAR_LEASE -> far(now);
        };
    }

    private List<Row> due(IndexKind kind, Due due, StoreTime now, int limit) {
        List<ItemKey> keys = index.find(kind, Item.micros(now.earliest()), limit);
        List<Row> rows = new ArrayList<>();
        for (int from = 0; from < keys.size() && rows.size() < limit; ) {
            int to = Math.min(keys.size(), from + limit - rows.size());
            rows.addAll(read(keys.subList(from, to), stored -> due.isDue(stored, now)));
            from = to;
        }
        return rows;
    }

    /**
     * Every entry under way is read at first, when the clock has gone back, and when one of the leases that end last is too long: the
     * clock may have gone ahead and back since the last sweep.
     */
    private List<Row> far(StoreTime now) {
        long latest = Item.micros(now.latest());
        long before = lastSweep.getAndSet(latest);
        // The bounds of another node may be somewhat later than ours.
        StoreTime late = new StoreTime(now.earliest(), now.latest().plus(BACK));
        boolean looks = before == Long.MIN_VALUE
                || latest < before - Item.micros(BACK)
                || !read(index.last(IndexKind.LEASE), stored -> Due.FAR_LEASE.isDue(stored, late))
                        .isEmpty();
        List<ItemKey> keys = looks ? index.all(IndexKind.LEASE) : List.of();
        List<Row> rows = new ArrayList<>();
        for (int from = 0; from < keys.size(); from += TOGETHER) {
            int to = Math.min(keys.size(), from + TOGETHER);
            rows.addAll(read(keys.subList(from, to), stored -> Due.FAR_LEASE.isDue(stored, now)));
        }
        return rows;
    }

    /** Those that can be read; throws if none can. */
    private List<Row> read(List<ItemKey> keys, Predicate<Entry> wanted) {
        List<CompletableFuture<Optional<Item>>> sent =
                keys.stream().map(table::get).toList();
        List<Row> rows = new ArrayList<>();
        int failed = 0;
        for (CompletableFuture<Optional<Item>> each : sent) {
            try {
                Optional<Item> item = Reads.one(each);
                item.map(Item::stored).filter(wanted).ifPresent(stored -> rows.add(row(stored.id(), item)));
            } catch (StoreException e) {
                failed++;
                if (failed == keys.size()) {
                    throw e;
                }
            }
        }
        return rows;
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return listing.list(query);
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return listing.history(id);
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return listing.audit(query);
    }

    @Override
    public int purgeAudit(Instant until, int limit) {
        return purge.run(Item.micros(until), limit);
    }

    /** The client is the store's. */
    @Override
    public void close() {}
}
