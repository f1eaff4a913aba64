package dev.onlyonce.redis;

import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Sweeps and purges.
 *
 * <ol>
 *   <li>Asks every partition in one pipeline how much is due. Most of the time that is nothing.
 *   <li>Gives each partition its share of the limit, from a random one on, and has them work in one pipeline.
 * </ol>
 *
 * <p>A partition whose server is down is left for the next time; if all are, the call fails.
 */
final class Upkeep {
    /** How many entries a script changes at once: the server does nothing else meanwhile. */
    private static final int SCRIPT_MAX = 200;

    private final Pipeline pipeline;
    private final int partitions;
    private final Batch batch;
    private final Script due;
    private final Script sweep;
    private final Script purge;

    Upkeep(Pipeline pipeline, Partitions partitions, Batch batch, Optional<String> clock) {
        this.pipeline = pipeline;
        this.partitions = partitions.count();
        this.batch = batch;
        this.due = Script.of("due", clock);
        this.sweep = Script.of("sweep", clock);
        this.purge = Script.of("purge", clock);
    }

    List<Transition> sweep(int limit) {
        List<Transition> swept = new ArrayList<>();
        for (List<Object> values : run(sweep, 1, limit)) {
            for (Object each : values.subList(1, values.size())) {
                swept.add(transition((List<?>) each));
            }
        }
        return swept;
    }

    private static Transition transition(List<?> swept) {
        State from = State.of(((Long) swept.get(2)).intValue());
        return new Transition(
                Partitions.id((byte[]) swept.get(0)),
                new String((byte[]) swept.get(1), StandardCharsets.UTF_8),
                from,
                State.of(((Long) swept.get(3)).intValue()),
                ((Long) swept.get(4)).intValue(),
                "sweeper",
                from == State.PENDING ? "nobody took it in time" : "the lease ran out");
    }

    int purge(int limit) {
        return run(purge, 2, limit).stream()
                .mapToInt(values -> ((Long) values.get(1)).intValue())
                .sum();
    }

    /** What the partitions answer that have something to do. */
    private List<List<Object>> run(Script script, int column, int limit) {
        List<Reply> dues = pipeline.send(IntStream.range(0, partitions)
                .mapToObj(partition -> batch.request(due, partition, List.of()))
                .toList());
        List<Request> requests = new ArrayList<>();
        int left = limit;
        int first = ThreadLocalRandom.current().nextInt(partitions);
        for (int i = 0; i < partitions; i++) {
            int partition = (first + i) % partitions;
            Reply reply = dues.get(partition);
            long waiting = reply.failure() == null ? (Long) reply.values().get(column) : 0;
            int share = (int) Math.min(Math.min(waiting, left), SCRIPT_MAX);
            if (share > 0) {
                requests.add(batch.request(script, partition, List.of(Verbs.number(share))));
                left -= share;
            }
        }
        List<Reply> replies = requests.isEmpty() ? dues : pipeline.send(requests);
        for (Reply reply : replies) {
            StoreException failure = reply.failure();
            if (failure != null && replies.stream().allMatch(each -> each.failure() != null)) {
                throw failure;
            }
        }
        return requests.isEmpty()
                ? List.of()
                : replies.stream()
                        .filter(reply -> reply.failure() == null)
                        .map(Reply::values)
                        .toList();
    }
}
