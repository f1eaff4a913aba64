package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import dev.onlyonce.cassandra.Calendar.Range;
import dev.onlyonce.cassandra.IndexRow.Due;
import dev.onlyonce.cassandra.IndexRow.Kind;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import dev.onlyonce.store.UnreadableEntries;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The audit. Its records are in the partitions of their entries, in the order in which Cassandra wrote them: a transaction's timestamp is
 * its ballot, which only grows. Index rows lead to them by time. A new entry's first record has no index row of its own, which saves a
 * write: it is listed with the second.
 */
final class AuditLog {
    /** Read together. */
    private static final int CHUNK = 500;

    private static final Comparator<Due> ORDER =
            Comparator.comparingLong(Due::at).thenComparing(Due::id);

    private final Link link;
    private final Statements statements;
    private final Calendar calendar;
    private final Indexes indexes;
    private final UnreadableEntries unreadable = new UnreadableEntries();

    AuditLog(Link link, Statements statements, Calendar calendar, Indexes indexes) {
        this.link = link;
        this.statements = statements;
        this.calendar = calendar;
        this.indexes = indexes;
    }

    /** A record with its place in the partition. */
    private record Stored(UUID record, AuditRecord audit) {
        boolean isFirst() {
            return audit.transition().from() == null;
        }
    }

    List<AuditRecord> history(EntryId id) {
        List<AuditRecord> all = stored(id).stream().map(Stored::audit).toList();
        return all.subList(Math.max(0, all.size() - AuditQuery.LIMIT_MAX), all.size());
    }

    private List<Stored> stored(EntryId id) {
        return link.rows(Statements.read(statements.history, id)).stream()
                // What has no time only proves a purge.
                .filter(row -> !row.isNull("at"))
                .flatMap(
                        row -> unreadable
                                .read("the audit record " + row.getUuid("record") + " of " + id, () -> stored(id, row))
                                .stream())
                .sorted(Comparator.comparingLong(each -> each.audit().number()))
                .toList();
    }

    private static Stored stored(EntryId id, Row row) {
        Transition transition = new Transition(
                id,
                Objects.requireNonNull(row.getString("operation")),
                state(row.getByte("from_state")),
                state(row.getByte("to_state")),
                row.getInt("attempt"),
                Objects.requireNonNull(row.getString("who")),
                Objects.requireNonNull(row.getString("why")));
        // A transaction writes two records at most.
        long number = row.getLong("written") * 2 + row.getByte("step");
        return new Stored(
                Objects.requireNonNull(row.getUuid("record")),
                new AuditRecord(number, transition, Micros.instant(row.getLong("at"))));
    }

    private static @Nullable State state(int code) {
        return code == 0 ? null : State.of(code);
    }

    List<AuditRecord> list(AuditQuery query, long now) {
        AuditRecord after = query.after();
        long from = query.from() == null ? 0 : Micros.of(query.from());
        long start = after == null ? from : Micros.of(after.at());
        List<AuditRecord> page = new ArrayList<>();
        for (long bucket : calendar.buckets(Kind.AUDIT, start, now)) {
            EntryId first =
                    after == null ? new EntryId("", "", "") : after.transition().id();
            Range range = new Range(start, first, now);
            for (List<Due> rows = rows(bucket, range); !rows.isEmpty(); rows = rows(bucket, range)) {
                for (Due row : rows) {
                    if (page.size() >= query.limit()) {
                        return page;
                    }
                    if (query.tenant() == null || query.tenant().equals(row.id().tenant())) {
                        add(page, query, row);
                    }
                }
                Due last = rows.get(rows.size() - 1);
                range = new Range(last.at(), after(last.id()), now);
            }
        }
        return page;
    }

    /** Index rows in their order, one for each instant and id. */
    private List<Due> rows(long bucket, Range range) {
        List<Due> sorted = calendar.rows(Kind.AUDIT, bucket, range, CHUNK).stream()
                .sorted(ORDER)
                .limit(CHUNK)
                .toList();
        List<Due> distinct = new ArrayList<>();
        for (Due row : sorted) {
            if (distinct.isEmpty() || ORDER.compare(distinct.get(distinct.size() - 1), row) != 0) {
                distinct.add(row);
            }
        }
        return distinct;
    }

    /** The smallest id after this one. */
    private static EntryId after(EntryId id) {
        return new EntryId(id.tenant(), id.scope(), id.key() + '\0');
    }

    private void add(List<AuditRecord> page, AuditQuery query, Due row) {
        AuditRecord after = query.after();
        boolean isSame = after != null && after.transition().id().equals(row.id()) && Micros.of(after.at()) == row.at();
        List<Stored> all = stored(row.id());
        for (int i = 0; i < all.size() && page.size() < query.limit(); i++) {
            AuditRecord record = all.get(i).audit();
            boolean isListed = isSame && after != null && record.number() <= after.number();
            if (isOf(row, all.get(i)) && !isListed) {
                firstBefore(all, i)
                        .map(Stored::audit)
                        .filter(first -> query.from() == null || !first.at().isBefore(query.from()))
                        .forEach(page::add);
                page.add(record);
            }
        }
    }

    private static boolean isOf(Due row, Stored stored) {
        return !stored.isFirst() && Micros.of(stored.audit().at()) == row.at();
    }

    private static Stream<Stored> firstBefore(List<Stored> all, int i) {
        return i > 0 && all.get(i - 1).isFirst() ? Stream.of(all.get(i - 1)) : Stream.empty();
    }

    /** Deletes records up to an instant. */
    int purge(long until, int limit) {
        int purged = 0;
        Calendar.Walk walk = calendar.walk(Kind.AUDIT, until, CHUNK);
        List<Due> rows = walk.next();
        while (!rows.isEmpty() && purged < limit) {
            List<IndexRow> over = new ArrayList<>();
            for (Due row : rows.stream().sorted(ORDER).toList()) {
                List<Stored> old = old(row);
                List<Stored> now = old.subList(0, Math.min(old.size(), limit - purged));
                forget(row.id(), now);
                purged += now.size();
                if (now.size() == old.size()) {
                    over.add(row);
                }
                if (purged >= limit) {
                    break;
                }
            }
            indexes.dropNow(over);
            rows = purged < limit ? walk.next() : List.of();
        }
        return purged;
    }

    private List<Stored> old(Due row) {
        List<Stored> all = stored(row.id());
        List<Stored> old = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (isOf(row, all.get(i))) {
                firstBefore(all, i).forEach(old::add);
                old.add(all.get(i));
            }
        }
        return old;
    }

    private void forget(EntryId id, List<Stored> records) {
        List<CompletableFuture<AsyncResultSet>> sent = records.stream()
                .map(stored -> link.request(Statements.on(statements.forget, id)
                        .setUuid("record", stored.record())
                        .setIdempotence(true)
                        .build()))
                .toList();
        Link.await(sent);
    }
}
