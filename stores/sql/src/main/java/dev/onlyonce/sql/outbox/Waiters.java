package dev.onlyonce.sql.outbox;

import dev.onlyonce.store.EntryId;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Requests on this node that wait for a worker, most often this node's own. */
final class Waiters {
    private final Map<EntryId, CompletableFuture<Void>> waiting = new ConcurrentHashMap<>();

    /** Done when a worker of this node has ended the entry. */
    CompletableFuture<Void> join(EntryId id) {
        return waiting.computeIfAbsent(id, i -> new CompletableFuture<>());
    }

    void leave(EntryId id, CompletableFuture<Void> signal) {
        waiting.remove(id, signal);
    }

    void ended(EntryId id) {
        CompletableFuture<Void> signal = waiting.remove(id);
        if (signal != null) {
            signal.complete(null);
        }
    }
}
