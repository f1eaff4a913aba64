package dev.onlyonce.redis;

import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Decision.Unchanged;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Transition;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps and purges.
 *
 * <ol>
 *   <li>Asks every partition in one pipeline which entries are due. Most of the time those are none.
 *   <li>Takes as many as the limit allows, from a random partition on, and reads each one and changes it if it has not changed since.
 *   <li>Entries that cannot be read are put off, so that they do not hide those behind them, and the call goes on with the next ones.
 * </ol>
 *
 * <p>A partition whose server is down is left for the next time; if all are, the call fails.
 */
final class Upkeep {
    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);
    /** How many entries of a partition are asked for together: more than the engine wants of all. */
    private static final int PARTITION_MAX = 1000;

    /** How often a call goes on with the next entries, because some could not be read. */
    private static final int ROUNDS_MAX = 10;
    /** When an entry that cannot be read is looked at again: the release that wrote it may be back. */
    private static final Duration POSTPONED = Duration.ofMinutes(10);

    /** How many leases are looked at together when the clock has gone back, and how often: more are under way in no partition. */
    private static final int SHORTENED_TOGETHER = 200;

    /** How many leases of a partition each sweep looks at: longer ones may end later than those that a short jump has made too long. */
    private static final int LATEST = 20;

    /** The clock of each partition when it was last asked what is due. */
    private final Map<Integer, Long> asked = new ConcurrentHashMap<>();
    /** And at its last sweep. */
    private final Map<Integer, Long> clocks = new ConcurrentHashMap<>();

    private final Pipeline pipeline;
    private final Partitions partitions;
    private final Batch batch;
    private final Script due;
    private final IndexMembers members;

    /**
     * What became of an entry, or why nothing did.
     *
     * @param isGone whether the index had a member whose entry somebody has deleted
     */
    private record Done<A>(
            A answer, boolean isGone, @Nullable StoreException failure) {
        static <A> Done<A> of(A answer) {
            return new Done<>(answer, false, null);
        }
    }

    Upkeep(Pipeline pipeline, Partitions partitions, Batch batch, Script due) {
        this.pipeline = pipeline;
        this.partitions = partitions;
        this.batch = batch;
        this.members = new IndexMembers(pipeline, partitions);
        this.due = due;
    }

    /** A rule for entries that an index has shown. */
    private interface DueVerb<A> extends Verb<EntryId, Done<A>> {
        @Override
        default EntryId id(EntryId request) {
            return request;
        }
    }

    /**
     * Ends claims whose lease is over.
     *
     * @param isTold false to shorten leases and end nothing: what a sweep ends must be told
     */
    private record Sweep(boolean isTold) implements DueVerb<Optional<Transition>> {
        private static final Done<Optional<Transition>> NOTHING = Done.of(Optional.empty());

        @Override
        public Decision<Done<Optional<Transition>>> decide(@Nullable Entry stored, EntryId request, StoreTime now) {
            if (stored == null) {
                return new Unchanged<>(new Done<>(Optional.empty(), true, null));
            }
            Decision<Optional<Transition>> decision = Life.sweep(stored, false, now);
            return decision.answer().isPresent() && !isTold
                    ? new Unchanged<>(NOTHING)
                    : with(decision, Done.of(decision.answer()));
        }

        @Override
        public Optional<Done<Optional<Transition>>> refused(StoreException failure) {
            return Optional.of(new Done<>(Optional.empty(), false, failure));
        }

        @Override
        public Optional<Swap> repair(EntryId request, Known known) {
            Entry stored = known.stored();
            if (stored == null || !Changes.index(stored.state()).equals(Partitions.LEASES)) {
                return Optional.of(Swap.moved(known.revision(), Partitions.LEASES, Swap.Shape.NO_INDEX, 0));
            }
            return stored.leaseUntil().isAfter(known.at())
                    ? Optional.of(Verbs.inLeases(known, stored.leaseUntil()))
                    : Optional.empty();
        }
    }

    /** Deletes what is past everything. */
    private record Purge() implements DueVerb<Integer> {
        @Override
        public Decision<Done<Integer>> decide(@Nullable Entry stored, EntryId request, StoreTime now) {
            if (stored == null) {
                return new Unchanged<>(new Done<>(0, true, null));
            }
            Decision<Boolean> decision = Life.purge(stored, now);
            return with(decision, Done.of(decision.answer() ? 1 : 0));
        }

        @Override
        public Optional<Done<Integer>> refused(StoreException failure) {
            return Optional.of(new Done<>(0, false, failure));
        }

        @Override
        public Optional<Swap> repair(EntryId request, Known known) {
            Entry stored = known.stored();
            if (stored == null || stored.expiresAt() == null) {
                return Optional.of(Swap.moved(known.revision(), Partitions.EXPIRIES, Swap.Shape.NO_INDEX, 0));
            }
            Instant next = stored.state() == State.EXPIRED ? Life.goneAt(stored).orElseThrow() : stored.expiresAt();
            return Optional.of(
                    Swap.moved(known.revision(), Swap.Shape.NO_INDEX, Partitions.EXPIRIES, StoredEntry.micros(next)));
        }
    }

    private static <A, B> Decision<B> with(Decision<A> decision, B answer) {
        return decision instanceof Decision.Change<A> change
                ? new Decision.Change<>(answer, change.next(), change.audit(), change.at())
                : new Unchanged<>(answer);
    }

    List<Transition> sweep(int limit) {
        shortenWhereNeeded();
        return eachDue(Partitions.LEASES, new Sweep(true), limit).stream()
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
        var unused = batch.write(new Sweep(false), last);
    }

    private void shorten(int partition) {
        Request last = Request.script(
                due,
                List.of(partitions.key(partition, Partitions.LEASES)),
                List.of(Verbs.number(SHORTENED_TOGETHER), Verbs.number(1)));
        Set<EntryId> before = Set.of();
        for (int round = 0; round < SHORTENED_TOGETHER; round++) {
            Reply reply = pipeline.send(List.of(last)).get(0);
            if (reply.failure() != null) {
                throw reply.failure();
            }
            List<?> found = (List<?>) reply.values().get(1);
            Set<EntryId> ids = new LinkedHashSet<>(members.ids(partition, Partitions.LEASES, found));
            if (ids.equals(before)) {
                // They are as long as they may be.
                return;
            }
            var unused = batch.write(new Sweep(false), List.copyOf(ids));
            if (found.size() < SHORTENED_TOGETHER) {
                return;
            }
            before = ids;
        }
    }

    int purge(int limit) {
        return eachDue(Partitions.EXPIRIES, new Purge(), limit).stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    private <A> List<A> eachDue(String index, DueVerb<A> verb, int limit) {
        List<A> answers = new ArrayList<>();
        boolean isHidden = true;
        for (int round = 0; isHidden && answers.size() < limit && round < ROUNDS_MAX; round++) {
            List<EntryId> ids = new ArrayList<>();
            isHidden = due(index, limit - answers.size(), ids);
            List<Done<A>> all = batch.write(verb, ids);
            List<EntryId> bad = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                StoreException failure = all.get(i).failure();
                if (all.get(i).isGone()) {
                    isHidden = true;
                } else if (failure == null) {
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
        if (bad.isEmpty()) {
            return false;
        }
        log.error("{} such entries in {} are put off for {} minutes", bad.size(), index, POSTPONED.toMinutes());
        // What cannot be written now is tried again with the next call.
        var unused = pipeline.send(bad.stream()
                .map(id -> {
                    int partition = partitions.of(id);
                    long now = asked.getOrDefault(partition, 0L);
                    return Request.command(
                            CommandType.ZADD,
                            partitions.key(partition, index),
                            Partitions.bytes("XX"),
                            Verbs.number(now + POSTPONED.toMillis() * 1000),
                            Partitions.member(id));
                })
                .toList());
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
                asked.put(partition, (Long) reply.values().get(0));
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
