package dev.onlyonce.dynamodb;

import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.dynamodb.Table.Written;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Sweeps and purges: asks the index what is due, reads these items, and writes what becomes of each if it has not changed since. An item
 * that another node was faster with is passed over.
 */
record Upkeep(Table table, DueIndex index, Changes changes, StoreClock clock, AtomicLong last) {
    /** More than the bounds of the clock move by themselves. */
    private static final long BACK = 5_000_000;
    /** How many items are read at once. */
    private static final int TOGETHER = 100;

    /** How many audit records a key may have on average for its purge to reach its limit in few rounds: an ordinary life has two. */
    private static final int RECORDS = 4;

    List<Transition> sweep(int limit) {
        Reading now = clock.now();
        shorten(now);
        return upTo(limit, index.find(Due.LEASE, now.earliest(), limit), old -> swept(old, now)).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    /**
     * Leases that end too late are shortened at first, when the clock has gone back, and when one of those that end last is too long: the
     * clock may have gone ahead and back since the last sweep. This reads every entry under way.
     */
    private void shorten(Reading now) {
        long before = last.getAndSet(now.latest());
        if (now.latest() < before - BACK || before == Long.MIN_VALUE || isFarLeaseThere(now)) {
            for (List<ItemKey> keys = index.all(Due.LEASE); !keys.isEmpty(); ) {
                int some = Math.min(keys.size(), TOGETHER);
                each(keys.subList(0, some), old -> shortened(old, now));
                keys = keys.subList(some, keys.size());
            }
        }
    }

    private boolean isFarLeaseThere(Reading now) {
        // The bounds of another node may be somewhat later than ours.
        Reading late = new Reading(now.earliest(), now.latest() + BACK);
        return !each(index.last(Due.LEASE), old -> shortened(old, late)).isEmpty();
    }

    private CompletableFuture<Optional<Optional<Transition>>> swept(Item old, Reading now) {
        return change(old, stored -> Life.sweep(stored, false, now.time()));
    }

    /** Ends nothing: what a sweep ends must be told. */
    private CompletableFuture<Optional<Optional<Transition>>> shortened(Item old, Reading now) {
        return change(old, stored -> {
            Decision<Optional<Transition>> decision = Life.sweep(stored, false, now.time());
            return decision.answer().isEmpty() ? decision : new Decision.Unchanged<>(Optional.empty());
        });
    }

    int purge(int limit) {
        Reading now = clock.now();
        return upTo(
                        limit,
                        index.find(Due.PURGE, now.earliest(), limit),
                        old -> change(old, stored -> Life.purge(stored, now.time())))
                .size();
    }

    /** The answer, if the entry changes and nobody has changed it since it was read. */
    private <A> CompletableFuture<Optional<A>> change(Item old, Function<Entry, Decision<A>> rule) {
        Entry stored = old.stored();
        return stored != null && rule.apply(stored) instanceof Decision.Change<A> change
                ? table.write(old, changes.after(old, change)).thenApply(written -> ifDone(written, change.answer()))
                : none();
    }

    /** Entries that expire keep their records until they end; only unknown ones and those past their end are looked at. */
    int purgeAudit(Duration retention, int limit) {
        long until = clock.now().earliest() - Item.micros(retention);
        int purged = 0;
        for (Due kind : List.of(Due.AUDIT, Due.UNKNOWN)) {
            List<ItemKey> keys = purged < limit ? index.find(kind, until, limit - purged) : List.of();
            for (int from = 0; from < keys.size() && purged < limit; ) {
                int to = Math.min(keys.size(), from + Math.max(1, (limit - purged) / RECORDS));
                purged += trim(keys.subList(from, to), until, (limit - purged) / (to - from));
                from = to;
            }
        }
        return purged;
    }

    private int trim(List<ItemKey> keys, long until, int maxOfEach) {
        return each(keys, old -> {
                    if (!isTrimmed(old)) {
                        return none();
                    }
                    Changes.Trimmed trimmed = changes.trim(old, until, maxOfEach);
                    return trimmed.count() == 0
                            ? none()
                            : table.write(old, trimmed.rest()).thenApply(written -> ifDone(written, trimmed.count()));
                })
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    private static boolean isTrimmed(Item old) {
        return old.state() == null || old.state() == State.UNKNOWN;
    }

    private static <A> CompletableFuture<Optional<A>> none() {
        return CompletableFuture.completedFuture(Optional.empty());
    }

    private static <A> Optional<A> ifDone(Written written, A answer) {
        return written instanceof Written.Done ? Optional.of(answer) : Optional.empty();
    }

    /** Changes up to {@code limit} items, skips those that need no change any more, and returns the changes. */
    private <A> List<A> upTo(int limit, List<ItemKey> keys, Function<Item, CompletableFuture<Optional<A>>> change) {
        List<A> changed = new ArrayList<>();
        for (int from = 0; from < keys.size() && changed.size() < limit; ) {
            int to = Math.min(keys.size(), from + limit - changed.size());
            try {
                changed.addAll(each(keys.subList(from, to), change));
            } catch (StoreException e) {
                if (changed.isEmpty()) {
                    throw e;
                }
                // What was changed before it must be told; the next round meets the failure again.
                return changed;
            }
            from = to;
        }
        return changed;
    }

    /** Reads and changes items in parallel; what was changed. */
    private <A> List<A> each(List<ItemKey> keys, Function<Item, CompletableFuture<Optional<A>>> change) {
        List<CompletableFuture<Optional<A>>> requests = new ArrayList<>();
        for (ItemKey key : keys) {
            requests.add(table.get(key)
                    .thenCompose(found -> found.isEmpty() ? none() : found.get().read(change)));
        }
        return Answers.ofWrites(requests, Optional.of(failure -> Optional.<A>empty())).stream()
                .flatMap(Optional::stream)
                .toList();
    }
}
