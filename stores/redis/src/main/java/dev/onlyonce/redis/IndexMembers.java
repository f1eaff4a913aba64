package dev.onlyonce.redis;

import dev.onlyonce.store.EntryId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the members of indexes. A member that names no entry of its partition is somebody else's: it is reported, and moved to a set of its
 * own, which keeps the newest. So it hides nothing that comes after it, and an operator can look at it. Any number of threads.
 */
final class IndexMembers {
    private static final Logger log = LoggerFactory.getLogger(IndexMembers.class);
    private static final String DAMAGED = "damaged";
    /** What is kept of them in a partition: enough to find out whose they are. */
    private static final int KEPT_MAX = 1000;
    /** Whoever writes garbage faster than this can hide entries from one list. */
    private static final int PAGES_MAX = 20;

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Script aside = Script.alone("aside");

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

    /** The ids of a page: the same question is asked again as long as damaged members are in the way. */
    List<EntryId> page(int partition, String index, Request question, Reply first) {
        List<Object> found = Batch.checkRead(first);
        List<EntryId> ids = ids(partition, index, found);
        for (int i = 0; ids.size() < found.size() && i < PAGES_MAX; i++) {
            found = Batch.checkRead(pipeline.send(List.of(question)).get(0));
            ids = ids(partition, index, found);
        }
        return ids;
    }

    private void moveAside(int partition, String index, List<byte[]> damaged) {
        byte[] from = partitions.key(partition, index);
        byte[] to = partitions.key(partition, DAMAGED);
        log.error(
                "{} has {} members that name no entry of its partition, such as {}: somebody else has written them. They are"
                        + " moved to {}, which keeps the newest {}",
                new String(from, StandardCharsets.UTF_8),
                damaged.size(),
                EntryId.shorten(new String(damaged.get(0), StandardCharsets.UTF_8)),
                new String(to, StandardCharsets.UTF_8),
                KEPT_MAX);
        List<byte[]> arguments = new ArrayList<>(List.of(Verbs.number(KEPT_MAX)));
        arguments.addAll(damaged);
        // What cannot be moved now is found again.
        var unused = pipeline.send(List.of(Request.script(aside, Arrays.asList(from, to), arguments)));
    }
}
