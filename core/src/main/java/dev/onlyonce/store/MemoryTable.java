package dev.onlyonce.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Entries and their audit in this process's memory, guarded by one lock. The revision of a row is the entry itself. */
final class MemoryTable implements EntryTable {
    private final Time time;
    private final NavigableMap<EntryId, Entry> entries = new TreeMap<>();
    private final MemoryAudit audit = new MemoryAudit();

    MemoryTable(Time time) {
        this.time = time;
    }

    @Override
    public StoreTime now() {
        return StoreTime.at(time.now());
    }

    @Override
    public synchronized List<Row> read(List<EntryId> ids) {
        return ids.stream().map(this::row).toList();
    }

    private Row row(EntryId id) {
        Entry entry = entries.get(id);
        return new Row(id, entry, entry);
    }

    @Override
    public synchronized List<Written> write(List<Write> writes) {
        List<Written> results = new ArrayList<>();
        for (Write write : writes) {
            Row now = row(write.row().id());
            boolean isUnchanged = now.revision() == write.row().revision();
            if (isUnchanged) {
                write(now.id(), write.change());
            }
            results.add(isUnchanged ? new Written.Done() : new Written.Overtaken(now));
        }
        return results;
    }

    private void write(EntryId id, Decision.Change<?> change) {
        if (change.next() == null) {
            entries.remove(id);
        } else {
            entries.put(id, change.next());
        }
        change.audit().forEach(transition -> audit.add(transition, change.at()));
    }

    @Override
    public synchronized List<Row> due(Due due, StoreTime now, int limit) {
        Stream<Entry> stored = entries.values().stream();
        // Everything else is left to Life, and to the tests of it.
        Stream<Entry> some = due == Due.FAR_LEASE ? stored.filter(entry -> due.isDue(entry, now)) : stored;
        return some.map(entry -> new Row(entry.id(), entry, entry)).toList();
    }

    @Override
    public synchronized List<Entry> list(EntryQuery query) {
        EntryId after = query.after();
        return (after == null ? entries : entries.tailMap(after, false))
                .values().stream()
                        .filter(entry -> query.tenant() == null
                                || query.tenant().equals(entry.id().tenant()))
                        .limit(query.limit())
                        .toList();
    }

    @Override
    public synchronized List<AuditRecord> history(EntryId id) {
        return audit.history(id);
    }

    @Override
    public synchronized List<AuditRecord> audit(AuditQuery query) {
        return audit.list(query);
    }

    @Override
    public synchronized int purgeAudit(Instant until, int limit) {
        return audit.purge(until, limit);
    }

    @Override
    public void close() {}
}
