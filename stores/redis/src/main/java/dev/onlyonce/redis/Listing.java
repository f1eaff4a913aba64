package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.UnreadableEntries;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists entries in the order of their ids: merges the ids of all partitions, looks at the heads of these entries, and reads those
 * that are asked for.
 */
final class Listing {
    /** Looked at together: enough that a filter with few hits is quick, and each server is held up for a moment only. */
    private static final int CHUNK = 500;
    /** Results are read in small groups, since each may have megabytes. */
    private static final int WHOLE = 16;

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Batch batch;
    private final Verbs verbs;
    private final IndexMembers members;
    private final UnreadableEntries unreadable = new UnreadableEntries();

    Listing(Pipeline pipeline, Partitions partitions, Batch batch, Verbs verbs) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.batch = batch;
        this.verbs = verbs;
        this.members = new IndexMembers(pipeline, partitions);
    }

    List<Entry> list(EntryQuery query) {
        List<Entry> page = new ArrayList<>();
        EntryId after = query.after();
        List<EntryId> ids;
        do {
            ids = ids(query, after);
            List<EntryId> matching = batch.readReadable(verbs.find(StoredEntry.HEAD_BYTES), ids, unreadable).stream()
                    .filter(entry -> matches(query, entry))
                    .map(Entry::id)
                    .limit(query.limit() - page.size())
                    .toList();
            for (int i = 0; i < matching.size(); i += WHOLE) {
                List<EntryId> some = matching.subList(i, Math.min(i + WHOLE, matching.size()));
                batch.readReadable(verbs.find(0), some, unreadable).stream()
                        .filter(entry -> matches(query, entry))
                        .forEach(page::add);
            }
            after = ids.isEmpty() ? after : ids.get(ids.size() - 1);
        } while (ids.size() == CHUNK && page.size() < query.limit());
        return page;
    }

    private static boolean matches(EntryQuery query, Entry entry) {
        return (query.operation() == null || query.operation().equals(entry.operation()))
                && (query.state() == null || query.state() == entry.state())
                && (query.olderThan() == null
                        || !entry.createdAt().plus(query.olderThan()).isAfter(entry.readAt()));
    }

    /** The next ids in their order, of all partitions together. */
    private List<EntryId> ids(EntryQuery query, @Nullable EntryId after) {
        String index = query.state() == State.UNKNOWN ? Partitions.UNKNOWN : Partitions.IDS;
        boolean fromStart =
                after == null || (query.tenant() != null && after.compareTo(new EntryId(query.tenant(), "", "")) < 0);
        byte[] first = fromStart || after == null
                ? from(query.tenant())
                : Partitions.joined(bytes("("), Partitions.member(after));
        List<Request> requests = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.command(
                        CommandType.ZRANGEBYLEX,
                        partitions.key(partition, index),
                        first,
                        to(query.tenant()),
                        bytes("LIMIT"),
                        bytes("0"),
                        Verbs.number(CHUNK)))
                .toList();
        List<Reply> replies = pipeline.send(requests);
        List<EntryId> ids = new ArrayList<>();
        for (int partition = 0; partition < replies.size(); partition++) {
            ids.addAll(members.page(partition, index, requests.get(partition), replies.get(partition)));
        }
        return ids.stream().sorted().limit(CHUNK).toList();
    }

    /** How many ids a tenant has, or all of them. */
    int count(@Nullable String tenant, int max) {
        List<Request> requests = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.command(
                        CommandType.ZLEXCOUNT, partitions.key(partition, Partitions.IDS), from(tenant), to(tenant)))
                .toList();
        long count = pipeline.send(requests).stream()
                .mapToLong(reply -> (Long) Batch.checkRead(reply).get(0))
                .sum();
        return (int) Math.min(count, max);
    }

    private static byte[] from(@Nullable String tenant) {
        return tenant == null ? bytes("-") : Partitions.joined(bytes("["), bytes(tenant + '\0'));
    }

    private static byte[] to(@Nullable String tenant) {
        return tenant == null ? bytes("+") : Partitions.joined(bytes("("), bytes(tenant + '\1'));
    }
}
