package dev.onlyonce.internal;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads entries with results that are too large for the answer to a batch. A thread of our own reads them one by one, so that they hold up
 * neither the lanes of group commit nor, by their number, the node's memory. Any number of threads.
 */
final class LargeReads {
    /** Two at once took neighbours from 15,711 operations to 4,489, on two cores. */
    private static final int AT_ONCE = 1;

    private static final Duration KEEP = Duration.ofSeconds(60);

    private final Store store;
    private final Duration waitMax;
    private final ThreadPoolExecutor threads;

    LargeReads(Store store, GroupingStore.Limits limits) {
        this.store = store;
        this.waitMax = limits.waitMax();
        threads = new ThreadPoolExecutor(
                AT_ONCE,
                AT_ONCE,
                KEEP.toSeconds(),
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(limits.queueMax()),
                task -> {
                    Thread thread = new Thread(task, "onlyonce-large");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /** Waits for the entry; throws {@link dev.onlyonce.store.StoreException}. */
    ClaimResult read(EntryId id) {
        try {
            return readAsync(id).join();
        } catch (CompletionException e) {
            return Futures.get(null, e.getCause());
        }
    }

    /** Reads without blocking. */
    CompletableFuture<ClaimResult> readAsync(EntryId id) {
        CompletableFuture<ClaimResult> read = new CompletableFuture<>();
        Futures.execute(
                threads,
                () -> {
                    // A caller that has given up meanwhile needs no answer.
                    if (!read.isDone()) {
                        Futures.complete(
                                read,
                                () -> store.find(List.of(id))
                                        .get(0)
                                        .<ClaimResult>map(ClaimResult.Existing::new)
                                        .orElseThrow(() -> new StoreBusy("The entry is gone since the claim", null)));
                    }
                },
                e -> read.completeExceptionally(
                        new StoreUnavailable("Too many large results are being read: try again", e)));
        CompletableFuture<ClaimResult> answer = new CompletableFuture<>();
        var unused = read.orTimeout(waitMax.toNanos(), TimeUnit.NANOSECONDS).whenComplete((result, failure) -> {
            if (failure == null) {
                answer.complete(result);
            } else {
                answer.completeExceptionally(
                        failure instanceof TimeoutException
                                ? new StoreUnavailable("A large result could not be read in time: try again", failure)
                                : failure);
            }
        });
        return answer;
    }

    /** Keeps no idle thread from now on. */
    void close() {
        threads.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
    }
}
