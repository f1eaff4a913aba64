package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.UnreadableEntries;
import io.lettuce.core.protocol.CommandType;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Records that are on their entries. At {@link AuditLevel#EXCEPTIONS} ordinary settlements are, and nothing lists them by time: a page of
 * the audit then reads the heads of all settled entries. A key says whether a node has ever used that level.
 */
record OwnRecords(Pipeline pipeline, Partitions partitions, UnreadableEntries unreadable) {
    private static final String MARK = "own-records";

    /** Notes that settlements may be on their entries from now on. */
    void expect() {
        Reply.checkRead(pipeline.send(List.of(
                        Request.command(CommandType.SET, partitions.key(0, MARK), bytes(AuditLevel.EXCEPTIONS.name()))))
                .get(0));
    }

    /** The records that are on this entry. */
    List<AuditRecord> of(EntryId id) {
        return records(id, pipeline.send(List.of(head(partitions.of(id), id))).get(0));
    }

    /** None if the entry cannot be read: the audit has records of others, and older ones of this entry. */
    private List<AuditRecord> records(EntryId id, Reply reply) {
        StoreException failure = reply.failure();
        if (failure != null && Reply.isOfItem(failure)) {
            unreadable.report(id, failure);
            return List.of();
        }
        byte[] head = head(reply);
        return head.length == 0
                ? List.of()
                : unreadable
                        .read(id, () -> StoredEntry.of(id, head, Instant.EPOCH).ownRecords())
                        .orElse(List.of());
    }

    private Request head(int partition, EntryId id) {
        return Request.command(
                CommandType.GETRANGE,
                partitions.entry(partition, id),
                bytes("0"),
                Verbs.number(StoredEntry.HEAD_BYTES - 1));
    }

    private static byte[] head(Reply reply) {
        return (byte[]) Reply.checkRead(reply).get(0);
    }

    /** The settlements on their entries that come next, as many as a page has. */
    Collection<AuditStreams.Change> after(AuditStreams.@Nullable Change last, AuditQuery query) {
        TreeSet<AuditStreams.Change> page = new TreeSet<>();
        if (Reply.checkRead(pipeline.send(List.of(Request.command(CommandType.GET, partitions.key(0, MARK))))
                        .get(0))
                .stream()
                .anyMatch(byte[].class::isInstance)) {
            for (int partition = 0; partition < partitions.count(); partition++) {
                read(partition, last, query, page);
            }
        }
        return page;
    }

    private void read(
            int partition, AuditStreams.@Nullable Change last, AuditQuery query, TreeSet<AuditStreams.Change> page) {
        new IndexMembers(pipeline, partitions).scan(partition, Partitions.EXPIRIES, ids -> {
            List<Reply> heads =
                    pipeline.send(ids.stream().map(id -> head(partition, id)).toList());
            for (int i = 0; i < heads.size(); i++) {
                List<AuditRecord> records = records(ids.get(i), heads.get(i));
                if (records.stream().anyMatch(record -> isListed(record, query))) {
                    add(new AuditStreams.Change(records.get(0).number(), partition, records), last, query, page);
                }
            }
        });
    }

    /** A first change is listed with the one that follows it. */
    private static boolean isListed(AuditRecord record, AuditQuery query) {
        return record.transition().from() == State.PROCESSING
                && (query.tenant() == null
                        || query.tenant().equals(record.transition().id().tenant()))
                && (query.from() == null || !record.at().isBefore(query.from()));
    }

    private static void add(
            AuditStreams.Change change,
            AuditStreams.@Nullable Change last,
            AuditQuery query,
            TreeSet<AuditStreams.Change> page) {
        if (last == null || change.compareTo(last) > 0) {
            page.add(change);
            if (page.size() > query.limit()) {
                page.pollLast();
            }
        }
    }
}
