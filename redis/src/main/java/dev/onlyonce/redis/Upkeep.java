package dev.onlyonce.redis;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sweeps and purges.
 *
 * <ol>
 *   <li>Asks every partition in one pipeline which entries are due. Most of the time those are none.
 *   <li>Takes as many as the limit allows, from a random partition on, and has each one looked at again and changed, in one script.
 * </ol>
 *
 * <p>A partition whose server is down is left for the next time; if all are, the call fails.
 */
final class Upkeep {
    /** How many entries of a partition are asked for together: more than the engine wants of all. */
    private static final int PARTITION_MAX = 1000;

    private static final List<byte[]> UNUSED = List.of(new byte[0]);

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Batch batch;
    private final Script due;
    private final Batch.Verb<EntryId, Optional<Transition>> sweep;
    private final Batch.Verb<EntryId, Long> purge;

    Upkeep(Pipeline pipeline, Partitions partitions, Batch batch, Optional<String> clock) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.batch = batch;
        this.due = Script.of("due", clock);
        this.sweep = new Batch.Verb<>(
                Script.of("sweep", clock),
                Function.identity(),
                id -> UNUSED,
                (id, answer, now) -> swept(id, (List<?>) answer),
                Optional.of(failure -> Optional.empty()));
        this.purge = new Batch.Verb<>(
                Script.of("purge", clock),
                Function.identity(),
                id -> UNUSED,
                (id, answer, now) -> answer instanceof Long count ? count : 0L,
                Optional.of(failure -> 0L));
    }

    List<Transition> sweep(int limit) {
        return batch.write(sweep, due(Partitions.LEASES, limit)).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<Transition> swept(EntryId id, @Nullable List<?> answer) {
        if (answer == null || answer.isEmpty()) {
            return Optional.empty();
        }
        State from = State.of(((Long) answer.get(1)).intValue());
        return Optional.of(new Transition(
                id,
                new String((byte[]) answer.get(0), StandardCharsets.UTF_8),
                from,
                State.of(((Long) answer.get(2)).intValue()),
                ((Long) answer.get(3)).intValue(),
                "sweeper",
                from == State.PENDING ? "nobody took it in time" : "the lease ran out"));
    }

    int purge(int limit) {
        return batch.write(purge, due(Partitions.EXPIRIES, limit)).stream()
                .mapToInt(Long::intValue)
                .sum();
    }

    private List<EntryId> due(String index, int limit) {
        List<byte[]> most = List.of(Verbs.number(Math.min(limit, PARTITION_MAX)));
        List<Reply> replies = pipeline.send(IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.script(due, List.of(partitions.key(partition, index)), most))
                .toList());
        checkAny(replies);
        List<EntryId> ids = new ArrayList<>();
        int first = ThreadLocalRandom.current().nextInt(partitions.count());
        for (int i = 0; i < partitions.count() && ids.size() < limit; i++) {
            Reply reply = replies.get((first + i) % partitions.count());
            if (reply.failure() == null) {
                ((List<?>) reply.values().get(1))
                        .stream()
                                .map(member -> Partitions.id((byte[]) member))
                                .limit(limit - ids.size())
                                .forEach(ids::add);
            }
        }
        return ids;
    }

    private static void checkAny(List<Reply> replies) {
        StoreException last = null;
        for (Reply reply : replies) {
            if (reply.failure() == null) {
                return;
            }
            last = reply.failure();
        }
        if (last != null) {
            throw last;
        }
    }
}
