package dev.onlyonce.internal;

import dev.onlyonce.internal.PendingCall.Kind;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Group commit: sends many callers' claims, settlements and look-ups to a store in one call.
 *
 * <ol>
 *   <li>A caller takes a free lane and leads, or joins the queue and waits. It also waits, although a lane is free, while
 *       another lane carries more calls than wait here: a larger batch costs less per call, and the callers of the batch under
 *       way are about to return with their next calls.
 *   <li>A caller that must not block joins the queue and leaves; one of our own threads leads for it. Until that thread runs,
 *       every new call joins the same batch.
 *   <li>A leader takes up to {@link Store#BATCH_MAX} calls of its own kind with distinct ids from the queue and sends them,
 *       with its own, in one call; see {@link BatchWriter}. There is no timer: a lone caller goes at once, and the next batch
 *       gathers while a call is under way. Claims and settlements do not mix, because the store pays for every kind in a call,
 *       and callers that were answered together return together.
 *   <li>A caller that leads keeps its own time limit. Calls that it has no time for return to the head of the queue.
 *   <li>A claim that is answered by a large result is not: whoever asked for it reads it apart; see {@link LargeReads}.
 *   <li>The leader hands out the answers and passes its lane to the first caller in the queue, unless rule 1 tells it to let
 *       more gather. A caller then returns; one of our threads leads again instead. So nobody waits unless a call is under way.
 * </ol>
 *
 * <p>While the store is unavailable, callers are refused without an attempt for a short, growing time; see {@link Pause}. A
 * caller that waits too long gives up by itself; one scheduled check does the same for all callers that do not block.
 *
 * <p>Background work and operators have batches of their own and call the store itself. The pieces: {@link CallQueue} decides who
 * leads and when, {@link Lanes} knows the calls under way, {@link BatchWriter} makes one call, {@link LargeReads} reads what is too large for one.
 */
public final class GroupingStore {
    private final Time time;
    private final CallQueue queue;
    private final LargeReads large;
    private final Kind<ClaimRequest, ClaimResult> claims;
    private final Kind<Settlement, SettleResult> settlements;
    private final Kind<EntryId, Optional<Entry>> finds;

    /**
     * Groups the calls of a store, which stays the caller's to close.
     *
     * @param onFailure receives every failure of a grouped call
     */
    public GroupingStore(Store store, Time time, Limits limits, Consumer<StoreException> onFailure) {
        this.time = time;
        this.claims = store::claim;
        this.settlements = store::settle;
        this.finds = store::find;
        this.large = new LargeReads(store, limits);
        this.queue = new CallQueue(time, limits, onFailure);
    }

    /**
     * Bounds the callers.
     *
     * @param queueMax how many may wait
     * @param waitMax how long each may wait
     */
    public record Limits(int queueMax, Duration waitMax) {}

    /** Claims; the caller leads or waits. Throws {@link StoreException}. */
    public ClaimResult claim(ClaimRequest request) {
        ClaimResult result = call(claims, request.id(), request);
        return result instanceof ClaimResult.Large ? large.read(request.id()) : result;
    }

    /** Claims without blocking. Dependent stages run on any thread, perhaps this one, and must not block. */
    public CompletableFuture<ClaimResult> claimAsync(ClaimRequest request) {
        CompletableFuture<ClaimResult> answer = new CompletableFuture<>();
        var unused = callAsync(claims, request.id(), request).whenComplete((result, failure) -> {
            if (result instanceof ClaimResult.Large) {
                var unusedRead =
                        large.readAsync(request.id()).whenComplete((read, problem) -> hand(answer, read, problem));
            } else {
                hand(answer, result, failure);
            }
        });
        return answer;
    }

    private static <R> void hand(CompletableFuture<R> to, @Nullable R result, @Nullable Throwable failure) {
        if (failure == null) {
            to.complete(result);
        } else {
            to.completeExceptionally(failure);
        }
    }

    /** Settles; the caller leads or waits. Throws {@link StoreException}. */
    public SettleResult settle(Settlement settlement) {
        return call(settlements, settlement.id(), settlement);
    }

    /** Settles without blocking. Dependent stages run on any thread, perhaps this one, and must not block. */
    public CompletableFuture<SettleResult> settleAsync(Settlement settlement) {
        return callAsync(settlements, settlement.id(), settlement);
    }

    private <Q, R> R call(Kind<Q, R> kind, EntryId id, Q request) {
        return queue.submit(new PendingCall<>(kind, id, request, time.nanos(), null));
    }

    private <Q, R> CompletableFuture<R> callAsync(Kind<Q, R> kind, EntryId id, Q request) {
        CompletableFuture<R> future = new CompletableFuture<>();
        queue.enqueue(new PendingCall<>(kind, id, request, time.nanos(), future));
        return future;
    }

    /** Reads; throws {@link StoreException}. */
    public Optional<Entry> find(EntryId id) {
        return call(finds, id, id);
    }

    /** How many callers wait in the queue. */
    int waiting() {
        return queue.size();
    }

    /** Ends our idle threads. Later calls still reach the store, which stays open. */
    public void close() {
        queue.close();
        large.close();
    }
}
