package dev.onlyonce.cassandra;

import dev.onlyonce.store.EntryId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A lock for each entry, among the callers of this node. Correctness does not need it: transactions that compete for an entry slow each
 * other down until they time out, so a node sends one at a time.
 */
final class LocalLocks {
    private final Map<EntryId, CompletableFuture<Void>> taken = new ConcurrentHashMap<>();

    /** Locks the entry if nobody has. */
    boolean tryTake(EntryId id) {
        return taken.putIfAbsent(id, new CompletableFuture<>()) == null;
    }

    /** Locks the entry when it is free; false if that takes too long, or the thread is interrupted. */
    boolean take(EntryId id, Duration max) {
        long giveUp = System.nanoTime() + max.toNanos();
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> other = taken.putIfAbsent(id, mine);
        while (other != null) {
            try {
                other.get(Math.max(0, giveUp - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException e) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            other = taken.putIfAbsent(id, mine);
        }
        return true;
    }

    void release(EntryId id) {
        CompletableFuture<Void> mine = taken.remove(id);
        if (mine != null) {
            mine.complete(null);
        }
    }
}
