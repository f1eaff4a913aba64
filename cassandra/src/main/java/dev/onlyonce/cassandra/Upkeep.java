package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Change.Condition;
import dev.onlyonce.cassandra.Change.Who;
import dev.onlyonce.cassandra.IndexRow.Due;
import dev.onlyonce.cassandra.IndexRow.Kind;
import dev.onlyonce.cassandra.IndexRow.Listed;
import dev.onlyonce.cassandra.Items.Result;
import dev.onlyonce.cassandra.Step.Answer;
import dev.onlyonce.cassandra.Step.Attempt;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Sweeps and purges: reads the index rows that are due, looks at each entry, and changes it on condition that nothing else has. Rows that
 * turn out to lead nowhere are deleted.
 */
final class Upkeep {
    /** Rows are read in chunks, in a random order, so that the nodes do not all work on the same entries. */
    private static final int CHUNK = 256;
    /** A claim writes its row first and its entry then. After this time there will be no entry any more. */
    private static final long UNBORN = Micros.of(Duration.ofMinutes(10));

    private final Calendar calendar;
    private final Items items;
    private final Contest contest;
    private final Changes changes;

    Upkeep(Calendar calendar, Items items, Contest contest, Changes changes) {
        this.calendar = calendar;
        this.items = items;
        this.contest = contest;
        this.changes = changes;
    }

    /**
     * What became of a row.
     *
     * @param value null if nothing was changed
     * @param over rows that are of no more use
     */
    record Looked<T>(@Nullable T value, List<IndexRow> over) {}

    List<Transition> sweep(int limit) {
        return run(Kind.LEASE, contest.moment().surely(), new Sweep(changes), limit);
    }

    int purge(int limit) {
        return run(Kind.EXPIRY, contest.moment().now(), new Purge(changes), limit)
                .size();
    }

    private <T> List<T> run(Kind kind, long to, Verb<Due, Looked<T>> verb, int limit) {
        List<T> changed = new ArrayList<>();
        Calendar.Walk walk = calendar.walk(kind, to, CHUNK);
        while (changed.size() < limit) {
            List<Due> rows = walk.next();
            if (rows.isEmpty()) {
                return changed;
            }
            Collections.shuffle(rows, ThreadLocalRandom.current());
            for (int i = 0; i < rows.size() && changed.size() < limit; ) {
                int next = Math.min(rows.size(), i + limit - changed.size());
                changed.addAll(look(verb, rows.subList(i, next)));
                i = next;
            }
        }
        return changed;
    }

    private <T> List<T> look(Verb<Due, Looked<T>> verb, List<Due> rows) {
        List<T> changed = new ArrayList<>();
        List<IndexRow> over = new ArrayList<>();
        List<Result<Looked<T>>> results = items.results(verb, rows);
        StoreException failure = null;
        for (int i = 0; i < rows.size(); i++) {
            Looked<T> looked = results.get(i).answer().orElse(null);
            if (looked == null) {
                failure = results.get(i).failure();
                continue;
            }
            if (looked.value() != null) {
                changed.add(looked.value());
            }
            over.addAll(looked.over());
        }
        contest.indexes().dropNow(over);
        if (failure != null && changed.isEmpty()) {
            throw failure;
        }
        return changed;
    }

    /** Ends abandoned claims. */
    record Sweep(Changes changes) implements Verb<Due, Looked<Transition>> {
        @Override
        public EntryId id(Due row) {
            return row.id();
        }

        @Override
        public boolean isLastLook(Due row, Moment moment) {
            return row.at() + UNBORN <= moment.surely();
        }

        @Override
        public Step<Looked<Transition>> decide(Due row, @Nullable StoredEntry entry, Moment moment) {
            if (entry == null && !isLastLook(row, moment)) {
                return new Answer<>(new Looked<>(null, List.of()));
            }
            if (entry == null || !entry.isOpen() || entry.hold().leaseUntil() > moment.surely()) {
                // A renewal wrote a row of its own.
                return new Answer<>(new Looked<>(null, over(row, entry)));
            }
            boolean isPending = entry.state() == State.PENDING;
            State to = isPending
                    ? State.FAILED
                    : entry.hold().terms().onLeaseLost().next();
            String why = isPending ? "nobody took it in time" : "the lease ran out";
            long at = entry.notBefore(moment.now());
            StoredEntry after = entry.settled(to, null, at, UUID.randomUUID()).fenced();
            Who who = new Who(entry.life().operation(), entry.hold().attempt(), "sweeper", why);
            Condition same = new Condition.Unchanged(entry.standing().change());
            Transition transition =
                    new Transition(entry.id(), who.operation(), entry.state(), to, who.attempt(), who.who(), who.why());
            return new Attempt<>(
                    changes.settle(entry, after, same, who, moment), new Looked<>(transition, List.of(row)));
        }
    }

    /** Rows of no more use: a claim that did not make this entry has left its id in the list too. */
    private static List<IndexRow> over(Due row, @Nullable StoredEntry entry) {
        boolean isListed = entry != null && entry.life().mark().equals(row.mark());
        return isListed ? List.of(row) : List.of(row, listed(row));
    }

    private static Listed listed(Due row) {
        return new Listed(IndexRow.List.ALL, row.home(), row.id(), row.mark());
    }

    /** Deletes entries that are past everything, and makes tombstones. */
    record Purge(Changes changes) implements Verb<Due, Looked<Boolean>> {
        @Override
        public EntryId id(Due row) {
            return row.id();
        }

        @Override
        public Step<Looked<Boolean>> decide(Due row, @Nullable StoredEntry entry, Moment moment) {
            if (entry == null || !entry.life().mark().equals(row.mark())) {
                // If Cassandra has removed it, that counts as well; else another node has, and has counted.
                boolean isNative =
                        entry == null && !changes.expiry().tolerance().isZero();
                return new Answer<>(new Looked<>(isNative ? Boolean.TRUE : null, List.of(row, listed(row))));
            }
            if (entry.isGone(moment.now())) {
                return new Attempt<>(changes.purge(entry, row), new Looked<>(true, List.of()));
            }
            if (entry.state() != State.EXPIRED && entry.shown(moment.now()) == State.EXPIRED) {
                return new Attempt<>(changes.bury(entry, row, moment), new Looked<>(true, List.of()));
            }
            // Claimed again since; its next settlement writes a row of its own.
            return new Answer<>(new Looked<>(null, List.of(row)));
        }
    }
}
