package dev.onlyonce.redis;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps and purges.
 *
 * <ol>
 *   <li>Asks every partition in one pipeline which entries are due. Most of the time those are none.
 *   <li>Takes as many as the limit allows, from a random partition on, and has each one looked at again and changed, in one script.
 *   <li>Entries that cannot be read are put off, so that they do not hide those behind them, and the call goes on with the next ones.
 * </ol>
 *
 * <p>A partition whose server is down is left for the next time; if all are, the call fails.
 */
final class Upkeep {
    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);
    /** How many entries of a partition are asked for together: more than the engine wants of all. */
    private static final int PARTITION_MAX = 1000;

    private static final List<byte[]> UNUSED = List.of(new byte[0]);
    /** Ends nothing: what a sweep ends must be told. */
    private static final List<byte[]> SHORTEN = List.of(Verbs.number(1));

    /** How often a call goes on with the next entries, because some could not be read. */
    private static final int ROUNDS_MAX = 10;
    /** When an entry that cannot be read is looked at again: the release that wrote it may be back. */
    private static final Duration POSTPONED = Duration.ofMinutes(10);

    /** How many leases are looked at together when the clock has gone back, and how often: more are under way in no partition. */
    private static final int SHORTENED_TOGETHER = 200;

    /** How many leases of a partition each sweep looks at: longer ones may end later than those that a short jump has made too long. */
    private static final int LATEST = 20;

    /** The clock of each partition at its last sweep. */
    private final Map<Integer, Long> clocks = new ConcurrentHashMap<>();

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Batch batch;
    private final Script due;
    private final Script postpone;
    private final Batch.Verb<EntryId, Done<Optional<Transition>>> sweep;
    private final Batch.Verb<EntryId, Done<Optional<Transition>>> shorten;
    private final Batch.Verb<EntryId, Done<Integer>> purge;
    private final IndexMembers members;

    /** What became of an entry, or why nothing did. */
    private record Done<A>(A answer, @Nullable StoreException failure) {}

    Upkeep(Pipeline pipeline, Partitions partitions, Batch batch, Optional<String> clock) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.batch = batch;
        this.members = new IndexMembers(pipeline, partitions);
        this.due = Script.of("due", clock);
        this.postpone = Script.of("postpone", clock);
        this.sweep = sweeping(clock, UNUSED);
        this.shorten = sweeping(clock, SHORTEN);
        this.purge = new Batch.Verb<>(
                Script.of("purge", clock),
                Function.identity(),
                id -> UNUSED,
                (id, answer, now) -> new Done<>(answer instanceof Long count ? count.intValue() : 0, null),
                Optional.of(failure -> new Done<>(0, failure)));
    }

    private static Batch.Verb<EntryId, Done<Optional<Transition>>> sweeping(
            Optional<String> clock, List<byte[]> argument) {
        return new Batch.Verb<>(
                Script.of("sweep", clock),
                Function.identity(),
                id -> argument,
                (id, answer, now) -> new Done<>(swept(id, (List<?>) answer), null),
                Optional.of(failure -> new Done<>(Optional.empty(), failure)));
    }

    List<Transition> sweep(int limit) {
        shortenWhereNeeded();
        return eachDue(Partitions.LEASES, sweep, limit).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    /**
     * Looks at the leases that end last, and shortens those that end later than any lease can. When a partition is swept for the first
     * time, and when its clock has gone back, at all of them; else at a few: the clock may have gone ahead and back between two sweeps.
     */
    private void shortenWhereNeeded() {
        List<byte[]> latest = List.of(Verbs.number(LATEST), Verbs.number(1));
        List<Reply> replies = pipeline.send(IntStream.range(0, partitions.count())
                .mapToObj(
                        partition -> Request.script(due, List.of(partitions.key(partition, Partitions.LEASES)), latest))
                .toList());
        List<EntryId> last = new ArrayList<>();
        for (int partition = 0; partition < partitions.count(); partition++) {
            Reply reply = replies.get(partition);
            if (reply.failure() == null && reply.values().get(0) instanceof Long now) {
                Long before = clocks.get(partition);
                if (before == null || now < before) {
                    shorten(partition);
                } else {
                    last.addAll(members.ids(partition, Partitions.LEASES, (List<?>)
                            reply.values().get(1)));
                }
                clocks.put(partition, now);
            }
        }
        var unused = batch.write(shorten, last);
    }

    private void shorten(int partition) {
        Request last = Request.script(
                due,
                List.of(partitions.key(partition, Partitions.LEASES)),
                List.of(Verbs.number(SHORTENED_TOGETHER), Verbs.number(1)));
        for (int round = 0; round < SHORTENED_TOGETHER; round++) {
            Reply reply = pipeline.send(List.of(last)).get(0);
            if (reply.failure() != null) {
                throw reply.failure();
            }
            List<?> found = (List<?>) reply.values().get(1);
            var unused = batch.write(shorten, members.ids(partition, Partitions.LEASES, found));
            if (found.size() < SHORTENED_TOGETHER) {
                return;
            }
        }
    }

    int purge(int limit) {
        return eachDue(Partitions.EXPIRIES, purge, limit).stream()
                .mapToInt(Integer::intValue)
                .sum();
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

    private <A> List<A> eachDue(String index, Batch.Verb<EntryId, Done<A>> verb, int limit) {
        List<A> answers = new ArrayList<>();
        boolean isHidden = true;
        for (int round = 0; isHidden && answers.size() < limit && round < ROUNDS_MAX; round++) {
            List<EntryId> ids = new ArrayList<>();
            isHidden = due(index, limit - answers.size(), ids);
            List<Done<A>> all = batch.write(verb, ids);
            List<EntryId> bad = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                StoreException failure = all.get(i).failure();
                if (failure == null) {
                    answers.add(all.get(i).answer());
                } else if (Reply.isOfItem(failure)) {
                    if (bad.isEmpty()) {
                        log.error("An entry can be neither swept nor purged: {}: {}", ids.get(i), failure.getMessage());
                    }
                    bad.add(ids.get(i));
                }
            }
            isHidden |= postpone(index, bad);
        }
        return answers;
    }

    /** Puts them behind those that are due; they stay in the index. Returns whether there were any. */
    private boolean postpone(String index, List<EntryId> bad) {
        Map<Integer, List<byte[]>> arguments = new TreeMap<>();
        for (EntryId id : bad) {
            arguments
                    .computeIfAbsent(
                            partitions.of(id), of -> new ArrayList<>(List.of(Verbs.number(POSTPONED.toMillis()))))
                    .add(Partitions.member(id));
        }
        List<Request> requests = new ArrayList<>();
        arguments.forEach((partition, of) ->
                requests.add(Request.script(postpone, List.of(partitions.key(partition, index)), of)));
        if (bad.isEmpty()) {
            return false;
        }
        log.error("{} such entries in {} are put off for {} minutes", bad.size(), index, POSTPONED.toMinutes());
        // What cannot be written now is tried again with the next call.
        var unused = pipeline.send(requests);
        return true;
    }

    /** Adds the ids that are due; returns whether damaged members were among them, which may have hidden others. */
    private boolean due(String index, int limit, List<EntryId> ids) {
        List<byte[]> most = List.of(Verbs.number(Math.min(limit, PARTITION_MAX)));
        List<Reply> replies = pipeline.send(IntStream.range(0, partitions.count())
                .mapToObj(partition -> Request.script(due, List.of(partitions.key(partition, index)), most))
                .toList());
        checkAny(replies);
        boolean isDamaged = false;
        int first = ThreadLocalRandom.current().nextInt(partitions.count());
        for (int i = 0; i < partitions.count() && ids.size() < limit; i++) {
            int partition = (first + i) % partitions.count();
            Reply reply = replies.get(partition);
            if (reply.failure() == null) {
                List<?> found = (List<?>) reply.values().get(1);
                List<EntryId> its = members.ids(partition, index, found);
                isDamaged |= its.size() < found.size();
                its.stream().limit(limit - ids.size()).forEach(ids::add);
            }
        }
        return isDamaged;
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
