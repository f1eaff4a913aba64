package dev.onlyonce;

import dev.onlyonce.internal.Futures;
import dev.onlyonce.internal.GroupingStore;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Records how claims ended.
 *
 * <ol>
 *   <li>The settlement goes to the store. When it is durable, it goes into the replay cache, the waiters wake, and listeners
 *       hear of it.
 *   <li>If the store does not take it, {@link LateSettlements} goes on trying in the background. The caller waits for that,
 *       within a bound, and then gets {@link StoreOutcomeUnknown}.
 *   <li>A settlement that will never be taken leaves its claim to nobody: no heartbeat renews it, and its lease lapses.
 * </ol>
 */
final class Settlements {
    /** How long a caller that has made its effect waits for a store that does not take the record. */
    static final Duration SETTLE_WAIT_MAX = Duration.ofSeconds(5);

    private final Parts parts;
    private final GroupingStore store;
    private final Claims claims;
    private final LateSettlements late;
    private final ReplayCache cache;
    private final LatencyAverage latency = new LatencyAverage();

    Settlements(Parts parts, GroupingStore store, Claims claims, LateSettlements late, ReplayCache cache) {
        this.parts = parts;
        this.store = store;
        this.claims = claims;
        this.late = late;
        this.cache = cache;
    }

    long nanos() {
        return parts.nanos();
    }

    /** Runs the callback of a claim that was lost. */
    void lost(Runnable callback) {
        parts.callbacks().lost(callback);
    }

    /** How long operations take, from claim to record. */
    LatencyAverage latency() {
        return latency;
    }

    /** Records a settlement; see {@link OpenClaim#settle(Ending)}. */
    SettleResult settle(LiveClaim claim, Settlement settlement) {
        long deadline = nanos() + SETTLE_WAIT_MAX.toNanos();
        SettleResult result;
        try {
            result = store.settle(settlement);
        } catch (RuntimeException | Error e) {
            return await(recordLater(claim, settlement), deadline, claim, e);
        }
        recorded(claim, settlement, result);
        return result;
    }

    /** The same without blocking; see {@link OpenClaim#settle(Ending, Executor)}. */
    CompletableFuture<SettleResult> settle(LiveClaim claim, Settlement settlement, Executor blocking) {
        long deadline = nanos() + SETTLE_WAIT_MAX.toNanos();
        CompletableFuture<SettleResult> settled = new CompletableFuture<>();
        var unused = store.settleAsync(settlement).whenComplete((result, failure) -> {
            if (failure == null) {
                Futures.complete(settled, () -> {
                    recorded(claim, settlement, result);
                    return result;
                });
                return;
            }
            CompletableFuture<SettleResult> taken = recordLater(claim, settlement);
            Futures.execute(
                    blocking,
                    () -> Futures.complete(settled, () -> await(taken, deadline, claim, failure)),
                    rejected -> settled.completeExceptionally(notRecorded(claim, failure)));
        });
        return settled;
    }

    /** Releases a claim that may or may not have reached the store, and under which nothing ran. */
    void release(ClaimAttempt attempt, long lostFromNanos, String why) {
        var unused = late.add(
                new Settlement(attempt.key().entryId(), attempt.token(), State.RETRYABLE, null, why), lostFromNanos);
    }

    /**
     * Goes on in the background. A settlement that the store has rejected is tried there once more: the fault may have been
     * this thread's connection, not the settlement.
     */
    private CompletableFuture<SettleResult> recordLater(LiveClaim claim, Settlement settlement) {
        CompletableFuture<SettleResult> taken = late.add(settlement);
        return taken.whenComplete((result, refused) -> {
            if (refused == null) {
                recorded(claim, settlement, result);
            } else {
                // Nobody will settle it: let the lease lapse, and the entry end as its terms say.
                claims.remove(claim);
            }
        });
    }

    /** Waits for a settlement that goes on in the background. */
    private SettleResult await(
            CompletableFuture<SettleResult> taken, long deadline, LiveClaim claim, Throwable failure) {
        try {
            long left = Math.max(0, deadline - nanos());
            if (taken.isDone() || parts.time().await(taken, Duration.ofNanos(left))) {
                return taken.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (CompletionException e) {
            // The effect has happened, even though the store refuses its record.
            throw notRecorded(claim, e.getCause());
        }
        throw notRecorded(claim, failure);
    }

    private static StoreOutcomeUnknown notRecorded(LiveClaim claim, @Nullable Throwable cause) {
        return new StoreOutcomeUnknown("The store did not take the record of " + claim.key() + " in time", cause);
    }

    private void recorded(LiveClaim claim, Settlement settlement, SettleResult result) {
        try {
            if (result instanceof SettleResult.Settled settled) {
                // Cache first, then wake the waiters.
                remember(claim, settlement, settled);
                publish(claim, settlement);
            } else {
                parts.tell(new Event.ClaimLost(claim.key(), claim.attempt()));
            }
        } finally {
            claims.remove(claim);
        }
    }

    private void remember(LiveClaim claim, Settlement settlement, SettleResult.Settled settled) {
        if (settlement.to().isAnswered()) {
            Replay replay = Replay.of(claim.origin(), settlement.result(), settled);
            // Its time counts from the claim, when it certainly was not settled yet.
            cache.put(settlement.id(), replay, claim.begunNanos());
        }
    }

    private void publish(LiveClaim claim, Settlement settlement) {
        String operation = claim.key().operation();
        long now = nanos();
        long ended = claim.actionEndedNanos();
        latency.took(operation, now - claim.begunNanos());
        if (!parts.isHeard()) {
            return;
        }
        parts.tell(new Event.Took(operation, Event.Took.Part.EXECUTE, ended - claim.begunNanos()));
        parts.tell(new Event.Took(operation, Event.Took.Part.SETTLE, now - ended));
        parts.tell(new Event.Changed(new Transition(
                settlement.id(),
                operation,
                State.PROCESSING,
                settlement.to(),
                claim.attempt(),
                parts.name(),
                settlement.reason())));
    }
}
