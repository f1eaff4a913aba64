package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the members of indexes. A member that names no entry of its partition is somebody else's: it is reported, and moved to a set of its
 * own, which keeps some of them. So it hides nothing that comes after it, and an operator can look at it. Any number of threads.
 */
final class IndexMembers {
    private static final Logger log = LoggerFactory.getLogger(IndexMembers.class);
    private static final String DAMAGED = "damaged";
    /** What is kept of them in a partition: enough to find out whose they are. */
    private static final int KEPT_MAX = 1000;
    /** Looked at together: each server is held up for a moment only. */
    private static final int CHUNK = 500;

    private final Pipeline pipeline;
    private final Partitions partitions;

    IndexMembers(Pipeline pipeline, Partitions partitions) {
        this.pipeline = pipeline;
        this.partitions = partitions;
    }

    /** The ids among the members; fewer if some are damaged. Those are not in the index any more. */
    List<EntryId> ids(int partition, String index, List<?> members) {
        List<EntryId> ids = new ArrayList<>(members.size());
        List<byte[]> damaged = new ArrayList<>();
        for (Object each : members) {
            byte[] member = (byte[]) each;
            if (partitions.of(member) == partition && Partitions.isId(member)) {
                ids.add(Partitions.id(member));
            } else {
                damaged.add(member);
            }
        }
        if (!damaged.isEmpty()) {
            moveAside(partition, index, damaged);
        }
        return ids;
    }

    /**
     * Hands over all ids of an index, some at a time: those that are there all the while, and perhaps others; some perhaps twice.
     *
     * @throws StoreUnavailable if another server answers meanwhile: a cursor means something else to each process of a server
     */
    void scan(int partition, String index, Consumer<List<EntryId>> reader) {
        int generation = pipeline.generation();
        byte[] cursor = bytes("0");
        do {
            Request next = Request.command(
                    CommandType.ZSCAN, partitions.key(partition, index), cursor, bytes("COUNT"), Verbs.number(CHUNK));
            List<Object> answer = Reply.checkRead(pipeline.send(List.of(next)).get(0));
            if (pipeline.generation() != generation) {
                throw new StoreUnavailable(
                        "Redis was connected again, or has another master, while ids were read", null);
            }
            List<?> membersWithScores = (List<?>) answer.get(1);
            List<Object> members = new ArrayList<>();
            for (int i = 0; i < membersWithScores.size(); i += 2) {
                members.add(membersWithScores.get(i));
            }
            reader.accept(ids(partition, index, members));
            cursor = (byte[]) answer.get(0);
        } while (cursor.length != 1 || cursor[0] != '0');
    }

    private void moveAside(int partition, String index, List<byte[]> damaged) {
        byte[] from = partitions.key(partition, index);
        byte[] to = partitions.key(partition, DAMAGED);
        log.error(
                "{} has {} members that name no entry of its partition, such as {}: somebody else has written them."
                        + " They are moved to {}, which keeps {}",
                new String(from, StandardCharsets.UTF_8),
                damaged.size(),
                EntryId.shorten(new String(damaged.get(0), StandardCharsets.UTF_8)),
                new String(to, StandardCharsets.UTF_8),
                KEPT_MAX);
        byte[][] aside = new byte[2 * damaged.size()][];
        for (int i = 0; i < damaged.size(); i++) {
            aside[2 * i] = Verbs.number(0);
            aside[2 * i + 1] = damaged.get(i);
        }
        // What cannot be moved now is found again.
        var unused = pipeline.send(List.of(
                Request.command(CommandType.ZADD, to, aside),
                Request.command(CommandType.ZREM, from, damaged.toArray(byte[][]::new)),
                Request.command(CommandType.ZREMRANGEBYRANK, to, Verbs.number(0), Verbs.number(-KEPT_MAX - 1))));
    }
}
