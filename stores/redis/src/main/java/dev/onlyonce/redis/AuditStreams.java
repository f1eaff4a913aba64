package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import dev.onlyonce.store.UnreadableEntries;
import io.lettuce.core.protocol.CommandType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The audit: one stream for each partition, in the order of its changes. A message has the changes of one call. The number of a record
 * is its message's id and its place there; records of different partitions are listed by number, then by partition.
 *
 * <p>Two changes may have no record in the stream:
 *
 * <ul>
 *   <li>The first change of an entry. It is on the entry itself until the next change, whose record carries it on. Readers see two
 *       records with one number.
 *   <li>An ordinary settlement, if only exceptions are recorded. Then the entry is the record, see {@link OwnRecords}.
 * </ul>
 */
final class AuditStreams {
    /** Messages that are read together from one stream. */
    private static final int CHUNK = 100;
    /** Messages that a script searches at once: its server does nothing else meanwhile. */
    private static final int SEARCHED = 200;
    /** How many a script deletes at once. */
    private static final int TRIM_MAX = 1000;
    /** Of a number, below the milliseconds of the stream's id: its sequence, and the place in the message. */
    private static final int LOW_BITS = 20;
    /**
     * No call makes more changes of one partition, and no server makes more calls in a millisecond than the sequence has room for. After
     * its clock was set back, {@code swap.lua} goes on to the next millisecond by itself.
     */
    private static final int PLACE_BITS = 8;

    /** Whether a record has the entry's first change with it, made by the same or by another. */
    static final int WITHOUT_FIRST = 0;

    static final int SAME_MAKER = 1;
    static final int OTHER_MAKER = 2;

    private static final int LOW_MAX = (1 << LOW_BITS) - 1;
    private static final int PLACE_MAX = (1 << PLACE_BITS) - 1;

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final OwnRecords own;
    private final UnreadableEntries unreadable = new UnreadableEntries();
    private final Swaps swaps;
    private final Script search = Script.alone("history");

    AuditStreams(Pipeline pipeline, Partitions partitions, Swaps swaps) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.own = new OwnRecords(pipeline, partitions, unreadable);
        this.swaps = swaps;
    }

    /** A change as it is stored: its record, with that of the entry's first change before it if this was the second one. */
    record Change(long number, int partition, List<AuditRecord> records) implements Comparable<Change> {
        EntryId id() {
            return records.get(0).transition().id();
        }

        /** Those that have a number from the stream differ in number or partition; settlements on their entries may not. */
        @Override
        public int compareTo(Change other) {
            int order = Long.compare(number, other.number);
            order = order == 0 ? Integer.compare(partition, other.partition) : order;
            return order == 0 ? id().compareTo(other.id()) : order;
        }
    }

    /** The number of a record that is on its entry: after all of the same millisecond in the stream. */
    static long ownNumber(Instant at) {
        return (at.toEpochMilli() << LOW_BITS) + LOW_MAX;
    }

    /** The first change of an entry. */
    static Transition first(EntryId id, String operation, State to, String who) {
        boolean isAccepted = to == State.PENDING;
        return new Transition(id, operation, null, to, isAccepted ? 0 : 1, who, isAccepted ? "accepted" : "claimed");
    }

    /**
     * Has the whole stream of the partition searched: it is bounded, and only operators ask. The entry is read first, so that a change in
     * between is in the stream, and perhaps on the entry as well.
     */
    List<AuditRecord> history(EntryId id) {
        List<AuditRecord> onEntry = own.of(id);
        Deque<AuditRecord> newest = new ArrayDeque<>();
        int partition = partitions.of(id);
        byte[] member = Partitions.member(id);
        byte[] from = bytes("-");
        while (from.length > 0) {
            Request request = Request.script(
                    search,
                    List.of(partitions.key(partition, Partitions.AUDIT)),
                    List.of(from, Verbs.number(SEARCHED), member));
            List<Object> answer =
                    Reply.checkRead(pipeline.send(List.of(request)).get(0));
            read(partition, 0, (List<?>) answer.get(1)).changes().stream()
                    .filter(change -> change.id().equals(id))
                    .forEach(change -> newest.addAll(change.records()));
            byte[] last = (byte[]) answer.get(0);
            from = last.length == 0 ? last : Partitions.joined(bytes("("), last);
        }
        onEntry.stream()
                .filter(record -> newest.stream().noneMatch(other -> isSame(record, other)))
                .forEach(newest::addLast);
        while (newest.size() > AuditQuery.LIMIT_MAX) {
            newest.removeFirst();
        }
        return List.copyOf(newest);
    }

    private static boolean isSame(AuditRecord one, AuditRecord other) {
        return one.at().equals(other.at()) && one.transition().equals(other.transition());
    }

    List<AuditRecord> list(AuditQuery query) {
        AuditRecord after = query.after();
        long start = start(query.from());
        int stopped = after == null ? 0 : partitions.of(after.transition().id());
        long number = after == null ? 0 : after.number();
        long[] cursors = IntStream.range(0, partitions.count())
                // Of the partitions before, this number was listed too.
                .mapToLong(partition -> Math.max(start, partition <= stopped ? number : number - 1))
                .toArray();
        List<Change> found = new ArrayList<>();
        int[] counts = new int[cursors.length];
        List<Integer> unfinished =
                new ArrayList<>(IntStream.range(0, cursors.length).boxed().toList());
        while (!unfinished.isEmpty()) {
            List<Reply> replies = pipeline.send(
                    unfinished.stream().map(p -> range(p, cursors[p])).toList());
            List<Integer> more = new ArrayList<>();
            for (int i = 0; i < replies.size(); i++) {
                int partition = unfinished.get(i);
                Chunk chunk = read(partition, cursors[partition], Reply.checkRead(replies.get(i)));
                for (Change change : chunk.changes()) {
                    counts[partition] += addMatching(query, change, found) ? 1 : 0;
                }
                cursors[partition] = chunk.end();
                if (!chunk.isLast() && counts[partition] < query.limit()) {
                    more.add(partition);
                }
            }
            unfinished = more;
        }
        Change last = after == null ? null : new Change(after.number(), stopped, List.of(after));
        for (Change change : own.after(last, query)) {
            addMatching(query, change, found);
        }
        return found.stream()
                .sorted()
                .limit(query.limit())
                .flatMap(change -> change.records().stream())
                .toList();
    }

    private static boolean addMatching(AuditQuery query, Change change, List<Change> found) {
        List<AuditRecord> records = change.records().stream()
                .filter(record -> query.tenant() == null
                        || query.tenant().equals(record.transition().id().tenant()))
                .filter(record -> query.from() == null || !record.at().isBefore(query.from()))
                .toList();
        return !records.isEmpty() && found.add(new Change(change.number(), change.partition(), records));
    }

    /** The number of a stream's id is never before the time in the record: a server's clock that steps back does not move it. */
    private static long start(@Nullable Instant from) {
        return from == null ? 0 : Math.max(0, from.toEpochMilli() << LOW_BITS) - 1;
    }

    private Request range(int partition, long after) {
        long next = after + 1;
        String id = (next >>> LOW_BITS) + "-" + ((next & LOW_MAX) >>> PLACE_BITS);
        return Request.command(
                CommandType.XRANGE,
                partitions.key(partition, Partitions.AUDIT),
                bytes(id),
                bytes("+"),
                bytes("COUNT"),
                Verbs.number(CHUNK));
    }

    /** The changes of some messages, where the next ones begin, and whether there are none. */
    private record Chunk(List<Change> changes, long end, boolean isLast) {}

    private Chunk read(int partition, long after, List<?> messages) {
        List<Change> changes = new ArrayList<>();
        long end = after;
        for (Object each : messages) {
            List<?> parts = (List<?>) each;
            String[] id = new String((byte[]) parts.get(0), StandardCharsets.US_ASCII).split("-", 2);
            long number = (Long.parseLong(id[0]) << LOW_BITS) + (Long.parseLong(id[1]) << PLACE_BITS);
            String name = "the audit's message " + id[0] + "-" + id[1] + " of partition " + partition;
            byte[] message = (byte[]) ((List<?>) parts.get(1)).get(1);
            unreadable.read(name, () -> changes(partition, number, message)).orElse(List.of()).stream()
                    .filter(change -> change.number() > after)
                    .forEach(changes::add);
            end = number + PLACE_MAX;
        }
        return new Chunk(changes, end, messages.size() < CHUNK);
    }

    private static List<Change> changes(int partition, long number, byte[] message) {
        ByteBuffer in = ByteBuffer.wrap(message);
        int count = Byte.toUnsignedInt(in.get());
        Instant at = StoredEntry.instant(in.getDouble());
        List<Change> changes = new ArrayList<>();
        for (int place = 0; place < count; place++) {
            changes.add(change(partition, number + place, in, at));
        }
        return changes;
    }

    /** Reads what {@link Changes} writes. */
    private static Change change(int partition, long number, ByteBuffer in, Instant ofMessage) {
        int from = in.get();
        int to = in.get();
        int first = in.get();
        int attempt = in.getInt();
        Instant created = StoredEntry.instant(in.getDouble());
        double own = in.getDouble();
        Instant at = own == Changes.WITH_MESSAGE ? ofMessage : StoredEntry.instant(own);
        EntryId id = Partitions.id(bytes(StoredEntry.text(in)));
        Transition transition = new Transition(
                id,
                StoredEntry.text(in),
                Verbs.state(from),
                Verbs.state(to),
                attempt,
                StoredEntry.text(in),
                StoredEntry.text(in));
        AuditRecord record = new AuditRecord(number, transition, at);
        if (first == WITHOUT_FIRST) {
            return new Change(number, partition, List.of(record));
        }
        String maker = first == SAME_MAKER ? transition.who() : StoredEntry.text(in);
        Transition made = first(id, transition.operation(), State.of(from), maker);
        return new Change(number, partition, List.of(new AuditRecord(number, made, created), record));
    }

    int purge(Duration retention, int limit) {
        int purged = 0;
        for (int partition = 0; partition < partitions.count() && purged < limit; partition++) {
            long micros = retention.toSeconds() * 1_000_000 + retention.toNanosPart() / 1000;
            Request trim = swaps.trim(partition, micros, Math.min(TRIM_MAX, limit - purged), new byte[0]);
            Reply reply = pipeline.send(List.of(trim)).get(0);
            purged += ((Long) Reply.checkRead(reply).get(0)).intValue();
        }
        return purged;
    }
}
