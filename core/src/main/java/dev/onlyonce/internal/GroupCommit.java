package dev.onlyonce.internal;

import dev.onlyonce.store.Batch;
import dev.onlyonce.store.BatchResult;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Concurrent callers' claims, settlements and look-ups travel to the store together.
 *
 * <ol>
 *   <li>A caller takes a free lane and leads, or puts its item into the queue and waits. While another lane carries more
 *       items than wait here, it waits although there is a free lane: what goes together costs less, and callers that were
 *       just answered are about to come with their next items.
 *   <li>A leader takes what is in the queue, up to {@link Store#BATCH_MAX} items of its own kind with distinct ids, and
 *       carries it with its own to the store in one call. There is no timer: a lone caller goes at once, and while a call is
 *       under way the next batch gathers. Claims and settlements do not mix, because a call pays for every kind in it, and
 *       callers that were answered together come with their next items together.
 *   <li>It hands out the answers, passes its lane to the first caller that waits, unless the rule of 1 says that they
 *       gather, and returns. So somebody waits only while a call is under way.
 * </ol>
 *
 * <p>If the outcome of a call is unknown, the same call is made again: tokens make it answer as the first would have. If
 * the store rejects a batch or finds a row of it busy, its halves go one after the other, down to the bad row alone, so
 * that it fails nobody else. If the store is unavailable, callers are refused without a try for a short, growing while, so
 * that a broken store is not hammered.
 */
final class GroupCommit {
    /** Two keep the store busy while a leader hands out answers; more only make batches smaller. */
    static final int LANES = 2;
    /** So many items are worth a call of their own at any time; larger batches cost hardly less for each item. */
    static final int WORTH_A_CALL = 32;
    /** Nobody gathers for longer while a lane is free: the call under way may hang. */
    static final long GATHER_MAX_NANOS = Duration.ofMillis(20).toNanos();
    /** How often a call whose outcome is unknown is repeated before its callers are told so. */
    static final int OUTCOME_TRIES = 3;

    private final Store store;
    private final Time time;
    private final int queueMax;
    private final long waitMaxNanos;
    private final Consumer<StoreException> onFailure;
    private final Pause pause;

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Item<?>> queue = new ArrayDeque<>();
    private final long[] laneBusySince = new long[LANES];
    /** How many items each lane carries; 0: it is free. */
    private final int[] laneItems = new int[LANES];

    GroupCommit(Store store, Time time, Limits limits, Consumer<StoreException> onFailure) {
        this.store = store;
        this.time = time;
        this.queueMax = limits.queueMax();
        this.waitMaxNanos = limits.waitMax().toNanos();
        this.onFailure = onFailure;
        this.pause = new Pause(time);
    }

    /**
     * What bounds the callers.
     *
     * @param queueMax how many may wait
     * @param waitMax for how long
     */
    record Limits(int queueMax, Duration waitMax) {}

    /** Claims; throws {@link StoreException}. */
    ClaimResult claim(ClaimRequest request) {
        return submit(new Item.Claim(request));
    }

    /** Settles; throws {@link StoreException}. */
    SettleResult settle(Settlement settlement) {
        return submit(new Item.Settle(settlement));
    }

    /** Reads; throws {@link StoreException}. */
    Optional<Entry> find(EntryId id) {
        return submit(new Item.Find(id));
    }

    /** How many callers wait in the queue. */
    int waiting() {
        lock.lock();
        try {
            return queue.size();
        } finally {
            lock.unlock();
        }
    }

    private <R> R submit(Item<R> item) {
        pause.check();
        int lane = enter(item);
        long begun = time.nanos();
        while (!item.isDone()) {
            if (lane == Item.NO_LANE) {
                lane = await(item, begun);
            } else {
                lead(lane, item);
            }
        }
        return item.result();
    }

    /** Waits for an answer or a lane; returns the lane, if any. */
    private int await(Item<?> item, long begun) {
        long waited = time.nanos() - begun;
        if (waited >= waitMaxNanos) {
            giveUp(item);
            // A lane that was passed just now must be led all the same.
            return item.awaitNanos(0);
        }
        if (waited >= GATHER_MAX_NANOS) {
            int lane = leaveQueue(item);
            return lane == Item.NO_LANE ? item.awaitNanos(waitMaxNanos - waited) : lane;
        }
        return item.awaitNanos(Math.min(waitMaxNanos, GATHER_MAX_NANOS) - waited);
    }

    /** Takes a free lane, or a place in the queue. */
    private int enter(Item<?> item) {
        lock.lock();
        try {
            int lane = freeLane();
            if (lane != Item.NO_LANE && isWorthACall(queue.size() + 1)) {
                occupy(lane);
                return lane;
            }
            if (lane == Item.NO_LANE && isStuck()) {
                throw new StoreUnavailable("The store has not answered for " + Duration.ofNanos(waitMaxNanos), null);
            }
            if (queue.size() >= queueMax) {
                throw new StoreUnavailable("Too many callers (" + queueMax + ") wait for the store", null);
            }
            queue.addLast(item);
            return Item.NO_LANE;
        } finally {
            lock.unlock();
        }
    }

    /** Whether so many items should go now, or gather until there are more or a call under way is done. */
    private boolean isWorthACall(int items) {
        int most = 0;
        for (int carried : laneItems) {
            most = Math.max(most, carried);
        }
        return items >= Math.min(most, WORTH_A_CALL);
    }

    private int freeLane() {
        for (int lane = 0; lane < LANES; lane++) {
            if (laneItems[lane] == 0) {
                return lane;
            }
        }
        return Item.NO_LANE;
    }

    private boolean isStuck() {
        long now = time.nanos();
        for (long since : laneBusySince) {
            if (now - since < waitMaxNanos) {
                return false;
            }
        }
        return true;
    }

    private void occupy(int lane) {
        laneItems[lane] = Math.min(queue.size() + 1, Store.BATCH_MAX);
        laneBusySince[lane] = time.nanos();
    }

    /** For one who has gathered long enough: takes a free lane, if it still waits and there is one. */
    private int leaveQueue(Item<?> item) {
        lock.lock();
        try {
            int lane = freeLane();
            if (lane != Item.NO_LANE && queue.remove(item)) {
                occupy(lane);
                return lane;
            }
            return Item.NO_LANE;
        } finally {
            lock.unlock();
        }
    }

    private void giveUp(Item<?> item) {
        lock.lock();
        try {
            if (queue.remove(item)) {
                item.fail(new StoreUnavailable("The store did not get to it in time; nothing was done", null));
            } else if (!item.hasLane()) {
                item.fail(new StoreOutcomeUnknown("The store did not answer in time", null));
            }
        } finally {
            lock.unlock();
        }
    }

    private void lead(int lane, Item<?> own) {
        List<Item<?>> batch = List.of(own);
        try {
            batch = take(lane, own);
            carry(batch);
        } catch (Error e) {
            // The others must not wait for an answer that nobody will give.
            batch.forEach(item -> item.fail(e));
            throw e;
        } finally {
            passOn(lane);
        }
    }

    private List<Item<?>> take(int lane, Item<?> own) {
        lock.lock();
        try {
            List<Item<?>> batch = new ArrayList<>(Math.min(queue.size() + 1, Store.BATCH_MAX));
            Set<EntryId> ids = new HashSet<>();
            batch.add(own);
            ids.add(own.id());
            Iterator<Item<?>> waiting = queue.iterator();
            while (waiting.hasNext() && batch.size() < Store.BATCH_MAX) {
                Item<?> item = waiting.next();
                if (item.getClass() == own.getClass() && ids.add(item.id())) {
                    batch.add(item);
                    waiting.remove();
                }
            }
            laneItems[lane] = batch.size();
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private void passOn(int lane) {
        lock.lock();
        try {
            laneItems[lane] = 0;
            if (!queue.isEmpty() && isWorthACall(queue.size())) {
                Item<?> next = queue.removeFirst();
                occupy(lane);
                next.passLane(lane);
            }
        } finally {
            lock.unlock();
        }
    }

    private void carry(List<Item<?>> batch) {
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
                carryRest(batch.subList(0, half));
                carryRest(batch.subList(half, batch.size()));
            }
        }
    }

    /** What its caller gave up must not go again: the caller may have gone on to the next thing with the same token. */
    private void carryRest(List<Item<?>> part) {
        List<Item<?>> rest = part.stream().filter(item -> !item.isDone()).toList();
        if (!rest.isEmpty()) {
            carry(rest);
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

    private static <R> void answerAll(List<? extends Item<R>> items, List<R> results) {
        if (items.size() != results.size()) {
            throw new IllegalStateException(
                    "The store gave " + results.size() + " answers to " + items.size() + " questions");
        }
        for (int i = 0; i < items.size(); i++) {
            items.get(i).answer(results.get(i));
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
