package dev.onlyonce.store;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The audit of a {@link MemoryStore}, guarded by its lock. The oldest records make room for new ones. */
final class MemoryAudit {
    /** About 20 MB. */
    private static final int RECORDS_MAX = 100_000;

    private final Deque<AuditRecord> records = new ArrayDeque<>();
    private long number;

    void add(Transition transition, Instant at) {
        if (records.size() == RECORDS_MAX) {
            records.removeFirst();
        }
        records.addLast(new AuditRecord(++number, transition, at));
    }

    List<AuditRecord> history(EntryId id) {
        List<AuditRecord> all =
                records.stream().filter(r -> r.transition().id().equals(id)).toList();
        return all.subList(Math.max(0, all.size() - AuditQuery.LIMIT_MAX), all.size());
    }

    List<AuditRecord> list(AuditQuery query) {
        AuditRecord after = query.after();
        return records.stream()
                .filter(r -> after == null || r.number() > after.number())
                .filter(query::matches)
                .limit(query.limit())
                .toList();
    }

    int purge(Instant until, int limit) {
        int purged = 0;
        while (purged < limit && !records.isEmpty() && !records.getFirst().at().isAfter(until)) {
            records.removeFirst();
            purged++;
        }
        return purged;
    }
}
