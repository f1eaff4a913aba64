package dev.onlyonce.internal;

import dev.onlyonce.store.Batch;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a batch of one kind to the store and hands out the answers.
 *
 * <ol>
 *   <li>If the outcome of a call is unknown, the same call is made again: tokens make it answer as the first would have.
 *   <li>If the leader was interrupted, that may be why the call failed. The interrupt is the leader's own affair: it is put
 *       aside and the call is made again.
 *   <li>If the store refuses a batch, it goes again in parts, see {@link Splitting}, so that a bad row fails nobody else.
 *   <li>An {@link Error} may be the leader's own trouble (its stack is used up): it goes on with its own item alone, and the
 *       others go with the next leader. Each leader ends its own item, so that comes to an end.
 *   <li>What its caller has given up does not go again. When the leader's time is over, nothing goes again.
 * </ol>
 */
final class BatchWriter {
    /** How often a call whose outcome is unknown is repeated before its callers are told so. */
    static final int OUTCOME_TRIES = 3;

    private static final Logger log = LoggerFactory.getLogger(BatchWriter.class);

    private final Store store;
    private final Time time;
    private final Pause pause;
    private final Consumer<StoreException> onFailure;

    BatchWriter(Store store, Time time, Pause pause, Consumer<StoreException> onFailure) {
        this.store = store;
        this.time = time;
        this.pause = pause;
        this.onFailure = onFailure;
    }

    /**
     * Carries a batch; throws nothing. Items that are not done afterwards go with another leader.
     *
     * @param batch the leader's own item first
     * @param deadlineNanos no call is begun after it, except the first
     * @return whether this thread was interrupted meanwhile; its status is cleared
     */
    boolean carry(List<Item<?>> batch, long deadlineNanos) {
        Trip trip = new Trip(batch.get(0), deadlineNanos);
        trip.attempt(batch);
        return trip.interrupted;
    }

    /** One batch's way to the store and back. */
    private final class Trip {
        private final Item<?> own;
        private final long deadlineNanos;
        private boolean begun;
        private boolean interrupted = Thread.interrupted();

        Trip(Item<?> own, long deadlineNanos) {
            this.own = own;
            this.deadlineNanos = deadlineNanos;
        }

        void attempt(List<Item<?>> batch) {
            List<Item<?>> rest = batch;
            for (int tries = 1; ; tries++) {
                rest = begun ? rest.stream().filter(item -> !item.isDone()).toList() : rest;
                if (rest.isEmpty() || (begun && time.nanos() - deadlineNanos >= 0)) {
                    return;
                }
                begun = true;
                try {
                    answer(rest);
                    interrupted |= Thread.interrupted();
                    pause.succeeded();
                    return;
                } catch (RuntimeException | Error e) {
                    boolean now = Thread.interrupted();
                    interrupted |= now;
                    if (!isNothingChanged(e)) {
                        rest.forEach(Item::doubt);
                    }
                    if (tries == OUTCOME_TRIES || !(now || e instanceof StoreOutcomeUnknown)) {
                        failed(rest, e);
                        return;
                    }
                    report(e);
                }
            }
        }

        private void failed(List<Item<?>> batch, Throwable e) {
            if (e instanceof StoreUnavailable) {
                pause.failed();
            }
            boolean ofTheStore = e instanceof StoreUnavailable || e instanceof StoreOutcomeUnknown;
            if (e instanceof Error && !(batch.size() == 1 && batch.get(0) == own)) {
                report(e);
                if (batch.contains(own)) {
                    attempt(List.of(own));
                }
            } else if (ofTheStore || batch.size() == 1) {
                report(e);
                batch.forEach(item -> item.fail(item.isDoubted() ? doubt(e) : e));
            } else {
                Splitting.parts(batch, e).forEach(this::attempt);
            }
        }
    }

    private static boolean isNothingChanged(Throwable e) {
        return e instanceof StoreUnavailable || e instanceof StoreBusy || e instanceof StoreRejected;
    }

    /** What an earlier try did stays unknown, even if this one did nothing; and what broke may have done it. */
    private static StoreOutcomeUnknown doubt(Throwable e) {
        return e instanceof StoreOutcomeUnknown unknown
                ? unknown
                : new StoreOutcomeUnknown("The store broke, or did not answer and then failed again", e);
    }

    private void report(Throwable e) {
        if (e instanceof StoreException failure) {
            onFailure.accept(failure);
        } else {
            log.error("A call of the store broke", e);
        }
    }

    private void answer(List<Item<?>> batch) {
        if (batch.get(0) instanceof Item.Claim) {
            List<Item.Claim> claims = all(Item.Claim.class, batch);
            Batch asked = new Batch(claims.stream().map(Item.Claim::request).toList(), List.of());
            answerAll(claims, store.write(asked).claims());
        } else if (batch.get(0) instanceof Item.Settle) {
            List<Item.Settle> settlements = all(Item.Settle.class, batch);
            Batch asked = new Batch(
                    List.of(), settlements.stream().map(Item.Settle::settlement).toList());
            answerAll(settlements, store.write(asked).settlements());
        } else {
            List<Item.Find> finds = all(Item.Find.class, batch);
            answerAll(finds, store.find(finds.stream().map(Item::id).toList()));
        }
    }

    private static <I> List<I> all(Class<I> kind, List<Item<?>> batch) {
        return batch.stream().map(kind::cast).toList();
    }

    private <R> void answerAll(List<? extends Item<R>> items, List<R> results) {
        if (items.size() != results.size()) {
            throw new IllegalStateException(
                    "The store gave " + results.size() + " answers to " + items.size() + " questions");
        }
        StoreBusy busy = null;
        for (int i = 0; i < items.size(); i++) {
            R result = results.get(i);
            if (result instanceof ClaimResult.Busy || result instanceof SettleResult.Busy) {
                busy = busy == null ? new StoreBusy("Somebody else holds the row", null) : busy;
                items.get(i).fail(items.get(i).isDoubted() ? doubt(busy) : busy);
            } else {
                items.get(i).answer(result);
            }
        }
        if (busy != null) {
            onFailure.accept(busy);
        }
    }
}
