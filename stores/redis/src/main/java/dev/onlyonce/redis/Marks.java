package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The store's mark, in every partition: any server of a cluster can lose what it has. Scripts compare it too, so that nothing is claimed
 * between two looks, see {@code swap.lua}.
 */
record Marks(Pipeline pipeline, Partitions partitions) {
    private static final String NAME = "store";

    /** Where a partition has it. */
    static byte[] key(Partitions partitions, int partition) {
        return partitions.key(partition, NAME);
    }

    /** Marks a store that is being made: each partition that has no mark yet gets that of the first. */
    void create() {
        byte[] first = key(partitions, 0);
        List<Reply> replies = pipeline.send(List.of(
                Request.command(
                        CommandType.SETNX, first, bytes(StoreMark.fresh().text())),
                Request.command(CommandType.GET, first)));
        byte[] mark =
                (byte[]) replies.stream().map(Marks::values).toList().get(1).get(0);
        sendToAll(partition -> Request.command(CommandType.SETNX, key(partitions, partition), mark))
                .forEach(Marks::values);
    }

    /**
     * Reads it; partitions whose server is down are left out.
     *
     * @throws StoreRefused if partitions have different ones
     */
    Optional<StoreMark> read() {
        Set<String> found = new TreeSet<>();
        List<StoreException> failures = new ArrayList<>();
        List<Reply> replies = sendToAll(partition -> Request.command(CommandType.GET, key(partitions, partition)));
        for (Reply reply : replies) {
            StoreException failure = reply.failure();
            if (failure != null) {
                failures.add(failure);
            } else {
                found.add(reply.values().get(0) instanceof byte[] mark ? new String(mark, StandardCharsets.UTF_8) : "");
            }
        }
        if (failures.size() == replies.size()) {
            throw new StoreUnavailable(
                    "Redis cannot be asked: " + failures.get(0).getMessage(), failures.get(0));
        }
        if (found.size() > 1) {
            throw new StoreRefused(
                    "Some partitions have lost their entries, or are another store's. Find out what happened first: keys from before"
                            + " are unknown now, and requests with them would run again. Then bring the entries back, or run:"
                            + " onlyonce store accept --reason ...",
                    null);
        }
        return StoreMark.of(found.iterator().next());
    }

    /** Writes it everywhere. */
    void write(StoreMark mark) {
        sendToAll(partition -> Request.command(CommandType.SET, key(partitions, partition), bytes(mark.text())))
                .forEach(Marks::values);
    }

    private List<Reply> sendToAll(IntFunction<Request> request) {
        return pipeline.send(
                IntStream.range(0, partitions.count()).mapToObj(request).toList());
    }

    private static List<Object> values(Reply reply) {
        StoreException failure = reply.failure();
        if (failure != null) {
            throw failure;
        }
        return reply.values();
    }
}
