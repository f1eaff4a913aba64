package dev.onlyonce.redis;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.UnreadableEntries;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lists entries in the order of their ids. Nothing has them in that order, because that would cost every request: all ids are looked
 * at, and the next ones are kept. Unknown entries have an index in that order. Any number of threads.
 */
final class Listing {
    /** Kept of one look at all ids: so a filter with few hits looks at them seldom. */
    private static final int KEPT = 20_000;
    /** Looked at together: each server is held up for a moment only. */
    private static final int CHUNK = 500;
    /** How long the ids that a page has not used are kept for the next one. */
    private static final Duration REST_MAX = Duration.ofSeconds(10);
    /** Before a member in a range. */
    private static final byte[] AFTER = {'('};

    /** An entry is in one of them. */
    private static final List<String> INDEXES = List.of(Partitions.LEASES, Partitions.UNKNOWN, Partitions.EXPIRIES);

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Reads reads;
    private final IndexMembers members;
    private final UnreadableEntries unreadable = new UnreadableEntries();
    private final AtomicReference<@Nullable Look> rest = new AtomicReference<>();

    /**
     * Ids in their order, for a query.
     *
     * @param isLast whether there are no more
     */
    private record Look(EntryQuery of, List<EntryId> ids, boolean isLast, long atNanos) {
        Look after(EntryQuery next, EntryId last) {
            return new Look(
                    next, ids.stream().filter(id -> id.compareTo(last) > 0).toList(), isLast, atNanos);
        }
    }

    Listing(Pipeline pipeline, Partitions partitions, Reads reads) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.reads = reads;
        this.members = new IndexMembers(pipeline, partitions);
    }

    List<Entry> list(EntryQuery query) {
        List<Entry> page = new ArrayList<>();
        Look look = begun(query);
        while (true) {
            List<EntryId> ids = look.ids;
            for (int i = 0; i < ids.size() && page.size() < query.limit(); i += CHUNK) {
                addMatching(query, ids.subList(i, Math.min(i + CHUNK, ids.size())), page);
            }
            if (page.size() == query.limit()) {
                EntryId last = page.get(page.size() - 1).id();
                rest.set(look.after(query.after(last), last));
                return page;
            } else if (look.isLast) {
                return page;
            }
            look = look(query, ids.isEmpty() ? query.after() : ids.get(ids.size() - 1));
        }
    }

    /** What the look for the page before has found and not used, unless that is long ago: a client that pages through asks for it. */
    private Look begun(EntryQuery query) {
        Look last = rest.getAndSet(null);
        boolean isNext = last != null && query.equals(last.of) && System.nanoTime() - last.atNanos < REST_MAX.toNanos();
        return isNext ? last : look(query, query.after());
    }

    private void addMatching(EntryQuery query, List<EntryId> ids, List<Entry> page) {
        reads.heads(ids, unreadable).stream()
                .filter(entry -> matches(query, entry))
                .limit(query.limit() - page.size())
                .forEach(page::add);
    }

    private static boolean matches(EntryQuery query, Entry entry) {
        return (query.operation() == null || query.operation().equals(entry.operation()))
                && (query.state() == null || query.state() == entry.state())
                && (query.olderThan() == null
                        || !entry.createdAt().plus(query.olderThan()).isAfter(entry.readAt()));
    }

    /** Looks for the next ids in their order, of all partitions together. */
    private Look look(EntryQuery query, @Nullable EntryId after) {
        long now = System.nanoTime();
        TreeSet<EntryId> next = new TreeSet<>();
        if (query.state() == State.UNKNOWN) {
            addUnknown(query, after, next);
        } else {
            for (String index : indexes(query.state())) {
                for (int partition = 0; partition < partitions.count(); partition++) {
                    members.scan(
                            partition,
                            index,
                            ids -> ids.stream()
                                    .filter(id -> isAsked(query, after, id))
                                    .forEach(id -> add(id, next)));
                }
            }
        }
        return new Look(query, List.copyOf(next), next.size() < KEPT, now);
    }

    private static void add(EntryId id, NavigableSet<EntryId> next) {
        next.add(id);
        if (next.size() > KEPT) {
            var unused = next.pollLast();
        }
    }

    /** Their index is in the order of ids, see {@code swap.lua}: each partition is asked for its next ones. */
    private void addUnknown(EntryQuery query, @Nullable EntryId after, NavigableSet<EntryId> next) {
        for (int partition = 0; partition < partitions.count(); partition++) {
            byte[] from = after == null ? Partitions.bytes("-") : Partitions.joined(AFTER, Partitions.member(after));
            boolean isMore;
            do {
                Request request = Request.command(
                        CommandType.ZRANGEBYLEX,
                        partitions.key(partition, Partitions.UNKNOWN),
                        from,
                        Partitions.bytes("+"),
                        Partitions.bytes("LIMIT"),
                        Verbs.number(0),
                        Verbs.number(CHUNK));
                List<Object> answer =
                        Reply.checkRead(pipeline.send(List.of(request)).get(0));
                List<EntryId> ids = members.ids(partition, Partitions.UNKNOWN, answer);
                ids.stream().filter(id -> isAsked(query, after, id)).forEach(id -> add(id, next));
                isMore = answer.size() == CHUNK
                        && (next.size() < KEPT
                                || ids.isEmpty()
                                || ids.get(ids.size() - 1).compareTo(next.last()) < 0);
                if (isMore) {
                    // Whether or not it could be read: else a damaged one might come again and again.
                    from = Partitions.joined(AFTER, (byte[]) answer.get(CHUNK - 1));
                }
            } while (isMore);
        }
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
        List<Request> requests = IntStream.range(0, partitions.count())
                .boxed()
                .flatMap(partition -> counts(partition, tenant))
                .toList();
        long all = pipeline.send(requests).stream()
                .map(reply -> Reply.checkRead(reply).get(0))
                .mapToLong(Listing::number)
                .sum();
        return (int) Math.max(0, Math.min(max, all));
    }

    private Stream<Request> counts(int partition, @Nullable String tenant) {
        return tenant == null
                ? INDEXES.stream().map(index -> Request.command(CommandType.ZCARD, partitions.key(partition, index)))
                : Stream.of(Request.command(
                        CommandType.HGET, partitions.key(partition, Partitions.TENANTS), Partitions.bytes(tenant)));
    }

    private static long number(@Nullable Object count) {
        return count instanceof byte[] text
                ? Long.parseLong(new String(text, StandardCharsets.US_ASCII))
                : count == null ? 0 : (Long) count;
    }
}
