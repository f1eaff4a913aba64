package dev.onlyonce.redis;

import dev.onlyonce.redis.Swaps.Found;
import dev.onlyonce.redis.Swaps.Item;
import dev.onlyonce.redis.Swaps.Mode;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.UnreadableEntries;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads entries as they are seen now. Those with large results are read on connections of their own, see {@link LargeEntries}. */
record Reads(Link link, Swaps swaps, Replicas replicas, LargeEntries large) {
    /** Nobody changes an answered entry so often. */
    private static final int ROUNDS_MAX = 3;

    /**
     * Reads what a failover cannot take back: entries that replicas have too, if those are wanted.
     *
     * @throws StoreUnavailable if nothing can be read
     * @throws StoreRejected if it is a single entry that cannot be read
     * @throws StoreBusy if others may be readable: the caller goes on with single ones
     */
    List<Optional<Entry>> find(List<EntryId> ids) {
        List<Item> items = ids.stream().map(swaps::item).toList();
        int generation = link.generation();
        Batch.fail(items, replicas.refused(Batch.partitions(items)));
        swaps.send(items.stream().filter(item -> item.failure().isEmpty()).toList(), Mode.FIND);
        List<Optional<Entry>> found = items.stream().map(this::entry).toList();
        Batch.fail(items, replicas.await(Batch.partitions(items), generation, false));
        checkAll(items);
        return found;
    }

    /** Reads for lists, without results: what cannot be read is reported and left out. */
    List<Entry> heads(List<EntryId> ids, UnreadableEntries unreadable) {
        List<Item> items = ids.stream().map(swaps::item).toList();
        swaps.send(items, Mode.LIST);
        List<Entry> found = new ArrayList<>();
        List<Item> readable = new ArrayList<>();
        for (Item item : items) {
            Optional<Entry> entry = shown(item, item.failure().isPresent() ? null : item.found());
            StoreException failure = item.failure().orElse(null);
            if (failure != null && Reply.isOfItem(failure)) {
                unreadable.report(item.id(), failure);
            } else {
                readable.add(item);
                entry.map(Entry::withoutResult).ifPresent(found::add);
            }
        }
        checkAll(readable);
        return found;
    }

    private void checkAll(List<Item> items) {
        List<StoreException> failures =
                items.stream().map(Item::failure).flatMap(Optional::stream).toList();
        for (StoreException failure : failures) {
            String message = String.valueOf(failure.getMessage());
            if (items.size() == 1 && Reply.isOfItem(failure)) {
                // Not unavailable: other entries can be read.
                throw new StoreRejected(message, failure);
            }
            throw link.isCluster() || failures.size() < items.size()
                    ? new StoreBusy(message, failure)
                    : new StoreUnavailable(message, failure);
        }
    }

    /**
     * With its result, wherever that has to be read; empty for none, and for one that has failed. What another connection answers must be
     * the same entry: at its other end may be a server that has been replaced.
     */
    private Optional<Entry> entry(Item item) {
        for (int round = 1; item.failure().isEmpty(); round++) {
            Found found = item.found();
            if (!found.isLarge()) {
                return shown(item, found);
            }
            Reply reply = large.read(item.key());
            byte[] raw = reply.failure() == null && reply.values().get(0) instanceof byte[] bytes ? bytes : null;
            if (reply.failure() != null) {
                item.fail(reply.failure());
            } else if (raw != null && isSame(raw, found)) {
                return shown(item, new Found(found.at(), false, false, raw, false));
            } else if (round == ROUNDS_MAX) {
                item.fail(new StoreBusy("The entry " + item.id() + " changed while its result was read", null));
            } else {
                item.set(Swap.READ);
                swaps.send(List.of(item), Mode.FIND);
            }
        }
        return Optional.empty();
    }

    private static boolean isSame(byte[] raw, Found found) {
        int length = StoredEntry.REVISION_BYTES;
        return found.raw() != null && raw.length >= length && Arrays.equals(raw, 0, length, found.raw(), 0, length);
    }

    private static Optional<Entry> shown(Item item, @Nullable Found found) {
        byte[] raw = found == null ? null : found.raw();
        if (found == null || raw == null || raw.length == 0) {
            return Optional.empty();
        }
        try {
            return Life.visible(StoredEntry.of(item.id(), raw, found.at()).entry(), StoreTime.at(found.at()));
        } catch (StoreException e) {
            item.fail(e);
            return Optional.empty();
        }
    }
}
