package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.IndexRow.Due;
import dev.onlyonce.cassandra.IndexRow.Kind;
import dev.onlyonce.cassandra.IndexRow.Listed;
import dev.onlyonce.cassandra.Items.Result;
import dev.onlyonce.cassandra.Step.Answer;
import dev.onlyonce.cassandra.Step.Attempt;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps and purges: reads the index rows that are due, looks at each entry, and changes it on condition that nothing else has. Rows that
 * turn out to lead nowhere are deleted.
 */
final class Upkeep {
    /** Rows are read in chunks, in a random order, so that the nodes do not all work on the same entries. */
    private static final int CHUNK = 256;
    /** A claim writes its row first and its entry then. After this time there will be no entry any more. */
    private static final long UNBORN = Micros.of(Duration.ofMinutes(10));

    /** Few leases are longer, so that every sweep can read those that end later. */
    private static final long FAR = Micros.of(Duration.ofMinutes(10));

    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);

    private final Calendar calendar;
    private final Items items;
    private final ContendedChange contended;
    private final Changes changes;
    private final IntSupplier clockSetBack;
    /** How often the clock had been set back when leases were last shortened; none yet. */
    private final AtomicInteger shortenedAfter = new AtomicInteger(-1);

    /**
     * For one store.
     *
     * @param clockSetBack how often the clock was set back
     */
    Upkeep(Calendar calendar, Items items, ContendedChange contended, Changes changes, IntSupplier clockSetBack) {
        this.clockSetBack = clockSetBack;
        this.calendar = calendar;
        this.items = items;
        this.contended = contended;
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
        long now = contended.moment().now();
        int times = clockSetBack.getAsInt();
        int before = shortenedAfter.getAndSet(times);
        if (before != times) {
            try {
                shorten(now);
            } catch (RuntimeException e) {
                shortenedAfter.compareAndSet(times, before);
                throw e;
            }
        } else {
            shorten(now + FAR);
        }
        return run(Kind.LEASE, contended.moment().surely(), new Sweep(changes), limit);
    }

    int purge(int limit) {
        return run(Kind.EXPIRY, contended.moment().now(), new Purge(changes), limit)
                .size();
    }

    /**
     * Shortens leases that end too late. At first, and when the clock has gone back, this reads every entry under way; else only those whose
     * leases end {@link #FAR} from now: the clock may have gone ahead and back between two sweeps, unseen by this node.
     */
    private void shorten(long from) {
        Calendar.Walk walk = calendar.walkFrom(Kind.LEASE, from, CHUNK);
        for (List<Due> rows = walk.next(); !rows.isEmpty(); rows = walk.next()) {
            try {
                var unused = look(new Shorten(changes), rows);
            } catch (StoreException e) {
                // One of them cannot be read or changed now; the others must be swept.
                log.warn("Leases of claims that were made while the clock was ahead may stay long: {}", e.getMessage());
            }
        }
    }

    private <T> List<T> run(Kind kind, long to, EntryRule<Due, Looked<T>> rule, int limit) {
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
                changed.addAll(look(rule, rows.subList(i, next)));
                i = next;
            }
        }
        return changed;
    }

    private <T> List<T> look(EntryRule<Due, Looked<T>> rule, List<Due> rows) {
        List<T> changed = new ArrayList<>();
        List<IndexRow> over = new ArrayList<>();
        List<Result<Looked<T>>> results = items.results(rule, rows);
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
        contended.indexes().dropNow(over);
        if (failure != null && changed.isEmpty()) {
            throw failure;
        }
        return changed;
    }

    /** Ends abandoned claims. */
    record Sweep(Changes changes) implements EntryRule<Due, Looked<Transition>> {
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
            if (entry == null
                    || !(Life.sweep(entry.stored(), false, StoredEntry.time(entry, moment.surely(), moment.now()))
                            instanceof Decision.Change<Optional<Transition>> change)
                    || change.answer().isEmpty()) {
                // A renewal wrote a row of its own.
                return new Answer<>(new Looked<>(null, over(row, entry)));
            }
            return new Attempt<>(
                    changes.of(entry, Changes.unchanged(entry), change, moment),
                    new Looked<>(change.answer().get(), List.of(row)));
        }
    }

    /** Gives a lease from now where one ends later: it was given when the clock was ahead. A living owner renews in time. */
    record Shorten(Changes changes) implements EntryRule<Due, Looked<Boolean>> {
        @Override
        public EntryId id(Due row) {
            return row.id();
        }

        @Override
        public Step<Looked<Boolean>> decide(Due row, @Nullable StoredEntry entry, Moment moment) {
            // The clocks of two nodes of ours are apart by no more than this.
            long apart = 2 * (moment.now() - moment.surely());
            StoreTime now = new StoreTime(Micros.instant(moment.surely()), Micros.instant(moment.now() + apart));
            if (entry != null
                    && Life.sweep(entry.stored(), false, now) instanceof Decision.Change<Optional<Transition>> change
                    && change.answer().isEmpty()) {
                Change shorter = changes.of(entry, Changes.unchanged(entry), change, moment);
                return new Attempt<>(shorter, new Looked<>(true, List.of(row)));
            }
            return new Answer<>(new Looked<>(null, List.of()));
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
    record Purge(Changes changes) implements EntryRule<Due, Looked<Boolean>> {
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
            StoreTime now = StoredEntry.time(entry, moment.now(), moment.now());
            if (Life.purge(entry.stored(), now) instanceof Decision.Change<Boolean> change) {
                Entry tombstone = change.next();
                return new Attempt<>(
                        tombstone == null ? changes.purge(entry, row) : changes.bury(entry, tombstone, row, moment),
                        new Looked<>(true, List.of()));
            }
            // Claimed again since; its next settlement writes a row of its own.
            return new Answer<>(new Looked<>(null, List.of(row)));
        }
    }
}
