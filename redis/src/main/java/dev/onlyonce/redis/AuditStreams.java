package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Transition;
import io.lettuce.core.protocol.CommandType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The audit: one stream for each partition, in the order of its changes. The number of a record is its id in the stream; records of
 * different partitions are listed by number, then by partition.
 */
final class AuditStreams {
    /** Read together from one stream. */
    private static final int CHUNK = 500;
    /** How many a script deletes at once. */
    private static final int TRIM_MAX = 1000;
    /** Changes of one partition within a millisecond; no server makes as many. */
    private static final int SEQUENCE_BITS = 20;

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Script trim;

    AuditStreams(Pipeline pipeline, Partitions partitions, Script trim) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.trim = trim;
    }

    /** Reads the whole stream of the partition: it is bounded, and only operators ask. */
    List<AuditRecord> history(EntryId id) {
        Deque<AuditRecord> newest = new ArrayDeque<>();
        int partition = partitions.of(id);
        long after = 0;
        List<AuditRecord> chunk;
        do {
            chunk = records(pipeline.send(List.of(range(partition, after))).get(0));
            for (AuditRecord record : chunk) {
                if (record.transition().id().equals(id)) {
                    newest.addLast(record);
                }
                if (newest.size() > AuditQuery.LIMIT_MAX) {
                    newest.removeFirst();
                }
                after = record.number();
            }
        } while (chunk.size() == CHUNK);
        return List.copyOf(newest);
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
        List<List<AuditRecord>> found = new ArrayList<>();
        IntStream.range(0, cursors.length).forEach(partition -> found.add(new ArrayList<>()));
        List<Integer> unfinished =
                new ArrayList<>(IntStream.range(0, cursors.length).boxed().toList());
        while (!unfinished.isEmpty()) {
            List<Reply> replies = pipeline.send(
                    unfinished.stream().map(p -> range(p, cursors[p])).toList());
            List<Integer> more = new ArrayList<>();
            for (int i = 0; i < replies.size(); i++) {
                int partition = unfinished.get(i);
                List<AuditRecord> chunk = records(replies.get(i));
                chunk.stream().filter(matching(query)).forEach(found.get(partition)::add);
                if (chunk.size() == CHUNK && found.get(partition).size() < query.limit()) {
                    cursors[partition] = chunk.get(CHUNK - 1).number();
                    more.add(partition);
                }
            }
            unfinished = more;
        }
        // A stable sort: the lists come in the order of partitions.
        return found.stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparingLong(AuditRecord::number))
                .limit(query.limit())
                .toList();
    }

    private static Predicate<AuditRecord> matching(AuditQuery query) {
        return record -> (query.tenant() == null
                        || query.tenant().equals(record.transition().id().tenant()))
                && (query.from() == null || !record.at().isBefore(query.from()));
    }

    /** The number of a stream's id is never before the time in the record: a server's clock that steps back does not move it. */
    private static long start(@Nullable Instant from) {
        return from == null ? 0 : Math.max(0, from.toEpochMilli() << SEQUENCE_BITS) - 1;
    }

    private Request range(int partition, long after) {
        long next = after + 1;
        String id = (next >>> SEQUENCE_BITS) + "-" + (next & ((1 << SEQUENCE_BITS) - 1));
        return Request.command(
                CommandType.XRANGE,
                partitions.key(partition, Partitions.AUDIT),
                bytes(id),
                bytes("+"),
                bytes("COUNT"),
                Verbs.number(CHUNK));
    }

    private static List<AuditRecord> records(Reply reply) {
        return Batch.checkRead(reply).stream()
                .map(message -> record((List<?>) message))
                .toList();
    }

    private static AuditRecord record(List<?> message) {
        String[] id = new String((byte[]) message.get(0), StandardCharsets.US_ASCII).split("-", 2);
        long number = (Long.parseLong(id[0]) << SEQUENCE_BITS) + Long.parseLong(id[1]);
        ByteBuffer in = ByteBuffer.wrap((byte[]) ((List<?>) message.get(1)).get(1));
        int from = in.get();
        int to = in.get();
        int attempt = in.getInt();
        Instant at = StoredEntry.instant(in.getDouble());
        byte[] member = new byte[Short.toUnsignedInt(in.getShort())];
        in.get(member);
        Transition transition = new Transition(
                Partitions.id(member),
                StoredEntry.text(in),
                Verbs.state(from),
                Verbs.state(to),
                attempt,
                StoredEntry.text(in),
                StoredEntry.text(in));
        return new AuditRecord(number, transition, at);
    }

    int purge(Duration retention, int limit) {
        int purged = 0;
        for (int partition = 0; partition < partitions.count() && purged < limit; partition++) {
            List<byte[]> arguments = List.of(
                    Verbs.number(retention.toSeconds() * 1_000_000 + retention.toNanosPart() / 1000),
                    Verbs.number(Math.min(TRIM_MAX, limit - purged)));
            Reply reply = pipeline.send(List.of(
                            Request.script(trim, List.of(partitions.key(partition, Partitions.AUDIT)), arguments)))
                    .get(0);
            purged += ((Long) Batch.checkRead(reply).get(1)).intValue();
        }
        return purged;
    }
}
