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
 * Lets one caller of this node at a time change an entry. It is not needed for correctness: transactions that compete for an entry slow
 * each other down until they time out, so this node sends one after the other.
 */
final class Turns {
    private final Map<EntryId, CompletableFuture<Void>> taken = new ConcurrentHashMap<>();

    /** Takes the turn if nobody has it. */
    boolean tryTake(EntryId id) {
        return taken.putIfAbsent(id, new CompletableFuture<>()) == null;
    }

    /** Takes the turn when it is free; false if that takes too long, or the thread is interrupted. */
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
