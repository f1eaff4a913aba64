package dev.onlyonce.redis;

import dev.onlyonce.redis.Swaps.Mode;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.UnreadableEntries;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists entries in the order of their ids. Nothing has them in that order, because that would cost every request: all ids are looked
 * at, and the next ones are kept. Their heads are read, and then those that are asked for.
 */
final class Listing {
    /** Kept of one look at all ids: so a filter with few hits looks at them seldom. */
    private static final int KEPT = 20_000;
    /** Looked at together: each server is held up for a moment only. */
    private static final int CHUNK = 500;
    /** Results are read in small groups, since each may have megabytes. */
    private static final int WHOLE = 16;

    /** An entry is in one of them. */
    private static final List<String> INDEXES = List.of(Partitions.LEASES, Partitions.UNKNOWN, Partitions.EXPIRIES);

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Reads reads;
    private final IndexMembers members;
    private final TenantCounts tenants = new TenantCounts(System::nanoTime);
    private final UnreadableEntries unreadable = new UnreadableEntries();

    Listing(Pipeline pipeline, Partitions partitions, Reads reads) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.reads = reads;
        this.members = new IndexMembers(pipeline, partitions);
    }

    List<Entry> list(EntryQuery query) {
        List<Entry> page = new ArrayList<>();
        EntryId after = query.after();
        List<EntryId> ids;
        do {
            ids = ids(query, after);
            for (int i = 0; i < ids.size() && page.size() < query.limit(); i += CHUNK) {
                addMatching(query, ids.subList(i, Math.min(i + CHUNK, ids.size())), page);
            }
            after = ids.isEmpty() ? after : ids.get(ids.size() - 1);
        } while (ids.size() == KEPT && page.size() < query.limit());
        return page;
    }

    private void addMatching(EntryQuery query, List<EntryId> ids, List<Entry> page) {
        List<EntryId> matching = reads.readable(ids, Mode.LIST, unreadable).stream()
                .filter(entry -> matches(query, entry))
                .map(Entry::id)
                .limit(query.limit() - page.size())
                .toList();
        for (int i = 0; i < matching.size(); i += WHOLE) {
            List<EntryId> some = matching.subList(i, Math.min(i + WHOLE, matching.size()));
            reads.readable(some, Mode.FIND, unreadable).stream()
                    .filter(entry -> matches(query, entry))
                    .map(Entry::withoutResult)
                    .forEach(page::add);
        }
    }

    private static boolean matches(EntryQuery query, Entry entry) {
        return (query.operation() == null || query.operation().equals(entry.operation()))
                && (query.state() == null || query.state() == entry.state())
                && (query.olderThan() == null
                        || !entry.createdAt().plus(query.olderThan()).isAfter(entry.readAt()));
    }

    /** The next ids in their order, of all partitions together. */
    private List<EntryId> ids(EntryQuery query, @Nullable EntryId after) {
        TreeSet<EntryId> next = new TreeSet<>();
        for (String index : indexes(query.state())) {
            for (int partition = 0; partition < partitions.count(); partition++) {
                members.scan(partition, index, ids -> {
                    for (EntryId id : ids) {
                        if (isAsked(query, after, id)) {
                            next.add(id);
                            if (next.size() > KEPT) {
                                var unused = next.pollLast();
                            }
                        }
                    }
                });
            }
        }
        return List.copyOf(next);
    }

    private static boolean isAsked(EntryQuery query, @Nullable EntryId after, EntryId id) {
        return (query.tenant() == null || query.tenant().equals(id.tenant()))
                && (after == null || id.compareTo(after) > 0);
    }

    /** An entry is in the index of its state. The leases again at the end: meanwhile, one that could be tried again may be claimed. */
    private static List<String> indexes(@Nullable State state) {
        if (state != null) {
            return List.of(Changes.index(state));
        }
        List<String> all = new ArrayList<>(INDEXES);
        all.add(Partitions.LEASES);
        return all;
    }

    /** How many entries a tenant has, or all of them. */
    int count(@Nullable String tenant, int max) {
        return (int) Math.min(max, tenant == null ? countAll() : tenants.count(tenant, this::countTenants));
    }

    private long countAll() {
        List<Request> requests = IntStream.range(0, partitions.count())
                .boxed()
                .flatMap(partition -> INDEXES.stream().map(index -> partitions.key(partition, index)))
                .map(index -> Request.command(CommandType.ZCARD, index))
                .toList();
        return pipeline.send(requests).stream()
                .mapToLong(reply -> (Long) Reply.checkRead(reply).get(0))
                .sum();
    }

    private Map<String, Integer> countTenants() {
        Map<String, Integer> counts = new HashMap<>();
        for (String index : INDEXES) {
            for (int partition = 0; partition < partitions.count(); partition++) {
                members.scan(partition, index, ids -> ids.forEach(id -> counts.merge(id.tenant(), 1, Integer::sum)));
            }
        }
        return counts;
    }
}
