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
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads entries as they are seen now. Those with large results are read on connections of their own, see {@link LargeEntries}. */
record Reads(Link link, Swaps swaps, Replicas replicas, LargeEntries large) {
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

    /** Reads for lists: what cannot be read is reported and left out. */
    List<Entry> readable(List<EntryId> ids, Mode mode, UnreadableEntries unreadable) {
        List<Item> items = ids.stream().map(swaps::item).toList();
        swaps.send(items, mode);
        List<Entry> found = new ArrayList<>();
        List<Item> readable = new ArrayList<>();
        for (Item item : items) {
            Optional<Entry> entry =
                    mode == Mode.LIST ? shown(item, item.failure().isPresent() ? null : item.found()) : entry(item);
            StoreException failure = item.failure().orElse(null);
            if (failure != null && Reply.isOfItem(failure)) {
                unreadable.report(item.id(), failure);
            } else {
                readable.add(item);
                entry.ifPresent(found::add);
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

    /** With its result, wherever that has to be read; empty for none, and for one that has failed. */
    private Optional<Entry> entry(Item item) {
        if (item.failure().isPresent()) {
            return Optional.empty();
        }
        Found found = item.found();
        if (!found.isLarge()) {
            return shown(item, found);
        }
        Reply reply = large.read(item.key());
        if (reply.failure() != null) {
            item.fail(reply.failure());
            return Optional.empty();
        }
        byte[] raw = reply.values().get(0) instanceof byte[] bytes ? bytes : null;
        return shown(item, new Found(found.at(), false, false, raw, false));
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
