package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** What all nodes must agree on, recorded by the first one: the format of the entries and the number of partitions. */
record Layout(Pipeline pipeline, Partitions partitions) {
    private static final String KEY = "layout";
    private static final String PROBE = "probe";
    private static final String FORMAT = "format 3, partitions ";

    /**
     * Records the layout, or finds what is recorded.
     *
     * @param count the number of partitions that is asked for; 0 to take what is recorded
     * @param standard the number if there is nothing to go by
     * @throws StoreRejected if the entries were laid out otherwise
     * @throws StoreException if Redis cannot be asked
     */
    static Layout open(Pipeline pipeline, String prefix, int count, int standard) {
        Partitions ours = new Partitions(prefix, count == 0 ? standard : count);
        byte[] key = ours.key(0, KEY);
        Request read = Request.command(CommandType.GET, key);
        Reply before = permitted(pipeline.send(List.of(read)).get(0));
        if (!(Reply.checkRead(before).get(0) instanceof byte[])) {
            // The mark first: a layout without one is a store that has lost it.
            new Marks(pipeline, ours).create();
        }
        Request write = Request.command(CommandType.SETNX, key, bytes(FORMAT + ours.count()));
        List<Reply> replies = pipeline.send(List.of(write, read));
        for (Reply reply : replies) {
            if (permitted(reply).failure() != null) {
                throw reply.failure();
            }
        }
        String stored = new String((byte[]) replies.get(1).values().get(0), StandardCharsets.UTF_8);
        if (!stored.matches(FORMAT + "\\d{1,4}")) {
            throw new StoreRejected(
                    "The entries below the prefix " + prefix + " were written by another release (" + stored
                            + "), and this one cannot read them: use that release, or see UPGRADING.md. With another"
                            + " prefix their keys are forgotten, and retries of them run again",
                    null);
        }
        if (count != 0 && !stored.equals(FORMAT + count)) {
            throw new StoreRejected(
                    "The entries below the prefix " + prefix + " have " + stored + ", but this node is set to " + FORMAT
                            + ours.count() + ": leave the number of partitions out",
                    null);
        }
        return new Layout(pipeline, new Partitions(prefix, Integer.parseInt(stored.substring(FORMAT.length()))));
    }

    private static Reply permitted(Reply reply) {
        if (reply.failure() != null) {
            String why = String.valueOf(reply.failure().getMessage());
            if (CommandRights.isAboutRights(why)) {
                throw CommandRights.lacking("GET, SETNX", why);
            }
        }
        return reply;
    }

    /** Writes a key that expires at once into every partition. */
    void checkWritable() {
        List<Request> requests = IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.command(
                        CommandType.SET, partitions.key(partition, PROBE), new byte[0], bytes("PX"), bytes("1")))
                .toList();
        for (Reply reply : pipeline.send(requests)) {
            if (reply.failure() != null) {
                throw reply.failure();
            }
        }
    }
}
