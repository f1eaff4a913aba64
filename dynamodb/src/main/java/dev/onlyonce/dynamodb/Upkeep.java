package dev.onlyonce.dynamodb;

import dev.onlyonce.dynamodb.Changes.Rest;
import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.dynamodb.Table.Written;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Sweeps and purges: asks the index what is due, reads these items, and writes what becomes of each if it has not changed since. An item
 * that another node was faster with is passed over.
 */
record Upkeep(Table table, DueIndex index, Changes changes, StoreClock clock) {
    /** How many audit records a key may have on average for its purge to reach its limit in few rounds: an ordinary life has two. */
    private static final int RECORDS = 4;

    List<Transition> sweep(int limit) {
        Reading now = clock.now();
        return upTo(limit, index.find(Due.LEASE, now.earliest(), limit), old -> {
            Optional<Item> next = changes.sweep(old, now);
            return next.isEmpty()
                    ? none()
                    : table.replace(old, next.get()).thenApply(written -> ifDone(written, swept(old, next.get())));
        });
    }

    private static Transition swept(Item old, Item next) {
        return new Transition(
                old.id(),
                old.text(Attribute.OPERATION),
                old.state(),
                next.state(),
                old.attempt(),
                Changes.SWEEPER,
                next.text(Attribute.SETTLED_WHY));
    }

    int purge(int limit) {
        Reading now = clock.now();
        return upTo(limit, index.find(Due.PURGE, now.earliest(), limit), old -> {
                    Optional<Rest> rest = changes.purge(old, now);
                    return rest.isEmpty() ? none() : store(old, rest.get()).thenApply(written -> ifDone(written, old));
                })
                .size();
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
                            : store(old, trimmed.rest()).thenApply(written -> ifDone(written, trimmed.count()));
                })
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    private static boolean isTrimmed(Item old) {
        return old.state() == null || old.state() == State.UNKNOWN;
    }

    private CompletableFuture<Written> store(Item old, Rest rest) {
        return rest instanceof Rest.Left left ? table.replace(old, left.item()) : table.delete(old);
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
