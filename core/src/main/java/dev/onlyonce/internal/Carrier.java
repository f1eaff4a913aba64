package dev.onlyonce.internal;

import dev.onlyonce.store.Batch;
import dev.onlyonce.store.BatchResult;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.util.List;
import java.util.function.Consumer;

/**
 * Takes a batch of one kind to the store and hands out the answers.
 *
 * <p>If the outcome of a call is unknown, the same call is made again: tokens make it answer as the first would have. If
 * the store rejects a batch or finds a row of it busy, its halves go one after the other, down to the bad row alone, so
 * that it fails nobody else.
 */
final class Carrier {
    /** How often a call whose outcome is unknown is repeated before its callers are told so. */
    static final int OUTCOME_TRIES = 3;

    private final Store store;
    private final Pause pause;
    private final Consumer<StoreException> onFailure;

    Carrier(Store store, Pause pause, Consumer<StoreException> onFailure) {
        this.store = store;
        this.pause = pause;
        this.onFailure = onFailure;
    }

    /** Ends every item of the batch, whatever comes of it. */
    void carry(List<Item<?>> batch) {
        try {
            attempt(batch);
        } catch (RuntimeException | Error e) {
            // Nobody must wait for an answer that nobody will give.
            batch.forEach(item -> item.fail(e));
            throw e;
        }
    }

    private void attempt(List<Item<?>> batch) {
        try {
            answer(batch);
            pause.succeeded();
        } catch (StoreUnavailable e) {
            pause.failed();
            fail(batch, e);
        } catch (StoreOutcomeUnknown e) {
            fail(batch, e);
        } catch (RuntimeException e) {
            if (batch.size() == 1) {
                fail(batch, e);
            } else {
                int half = batch.size() / 2;
                attemptRest(batch.subList(0, half));
                attemptRest(batch.subList(half, batch.size()));
            }
        }
    }

    /** What its caller gave up must not go again: the caller may have gone on to the next thing with the same token. */
    private void attemptRest(List<Item<?>> part) {
        List<Item<?>> rest = part.stream().filter(item -> !item.isDone()).toList();
        if (!rest.isEmpty()) {
            attempt(rest);
        }
    }

    private void fail(List<Item<?>> batch, RuntimeException e) {
        if (e instanceof StoreException failure) {
            onFailure.accept(failure);
        }
        batch.forEach(item -> item.fail(item.isDoubted() ? doubt(e) : e));
    }

    /** What an earlier try did stays unknown, even if this one did nothing. */
    private static RuntimeException doubt(RuntimeException e) {
        return e instanceof StoreOutcomeUnknown
                ? e
                : new StoreOutcomeUnknown("The store did not answer, and then failed again", e);
    }

    private void answer(List<Item<?>> batch) {
        if (batch.get(0) instanceof Item.Claim) {
            List<Item.Claim> claims = all(Item.Claim.class, batch);
            answerAll(claims, write(claims, List.of()).claims());
        } else if (batch.get(0) instanceof Item.Settle) {
            List<Item.Settle> settlements = all(Item.Settle.class, batch);
            answerAll(settlements, write(List.of(), settlements).settlements());
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
                items.get(i).fail(busy);
            } else {
                items.get(i).answer(result);
            }
        }
        if (busy != null) {
            onFailure.accept(busy);
        }
    }

    private BatchResult write(List<Item.Claim> claims, List<Item.Settle> settlements) {
        Batch batch = new Batch(
                claims.stream().map(Item.Claim::request).toList(),
                settlements.stream().map(Item.Settle::settlement).toList());
        for (int attempt = 1; ; attempt++) {
            try {
                return store.write(batch);
            } catch (StoreOutcomeUnknown e) {
                claims.forEach(Item::doubt);
                settlements.forEach(Item::doubt);
                if (attempt == OUTCOME_TRIES) {
                    throw e;
                }
                onFailure.accept(e);
            }
        }
    }
}
