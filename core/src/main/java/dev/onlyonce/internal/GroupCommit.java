package dev.onlyonce.internal;

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
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Concurrent callers' claims, settlements and look-ups travel to the store together.
 *
 * <ol>
 *   <li>A caller takes a free lane and leads, or puts its item into the queue and waits. While another lane carries more
 *       items than wait here, it waits although there is a free lane: what goes together costs less, and callers that were
 *       just answered are about to come with their next items.
 *   <li>A caller that must not block puts its item into the queue and goes; one of our own threads leads for it. Until
 *       that thread runs, whatever comes goes with it.
 *   <li>A leader takes what is in the queue, up to {@link Store#BATCH_MAX} items of its own kind with distinct ids, and
 *       carries it with its own to the store in one call, see {@link BatchWriter}. There is no timer: a lone caller goes at
 *       once, and while a call is under way the next batch gathers. Claims and settlements do not mix, because a call pays
 *       for every kind in it, and callers that were answered together come with their next items together.
 *   <li>A caller that leads keeps its own time limit: what it has no time for goes back to the head of the queue.
 *   <li>It hands out the answers and passes its lane to the first that waits, unless the rule of 1 says that they gather. A
 *       caller returns then; a thread of ours leads on instead of passing. So somebody waits only while a call is under way.
 * </ol>
 *
 * <p>If the store is unavailable, callers are refused without a try for a short, growing while, so that a broken store is
 * not hammered. A caller that waits for too long gives up by itself; those that do not block are looked after by one
 * scheduled check for all of them.
 */
public final class GroupCommit implements AutoCloseable {
    /** Two keep the store busy while a leader hands out answers; more only make batches smaller. */
    static final int LANES = 2;
    /** Nobody gathers for longer while a lane is free: the call under way may hang. */
    static final Duration GATHER_MAX = Duration.ofMillis(20);

    private static final long GATHER_MAX_NANOS = GATHER_MAX.toNanos();
    private static final Logger log = LoggerFactory.getLogger(GroupCommit.class);

    private final Time time;
    private final int queueMax;
    private final long waitMaxNanos;
    private final Pause pause;
    private final BatchWriter carrier;
    private final Leaders leaders = new Leaders(LANES);

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Item<?>> queue = new ArrayDeque<>();
    private final Lanes lanes = new Lanes(LANES);
    /** How many of our threads are about to look at the queue: what comes until then goes with them. */
    private int coming;
    /** Whether {@link #check} is scheduled. */
    private boolean checking;

    /** Groups the calls of a store. */
    public GroupCommit(Store store, Time time, Limits limits, Consumer<StoreException> onFailure) {
        this.time = time;
        this.queueMax = limits.queueMax();
        this.waitMaxNanos = limits.waitMax().toNanos();
        this.pause = new Pause(time);
        this.carrier = new BatchWriter(store, time, pause, onFailure);
    }

    /**
     * What bounds the callers.
     *
     * @param queueMax how many may wait
     * @param waitMax for how long
     */
    public record Limits(int queueMax, Duration waitMax) {}

    /** Claims; throws {@link StoreException}. */
    public ClaimResult claim(ClaimRequest request) {
        return submit(new Item.Claim(request, time.nanos(), null));
    }

    /** Claims without blocking; what follows runs on any thread, perhaps this one, and must not block. */
    public CompletableFuture<ClaimResult> claimLater(ClaimRequest request) {
        CompletableFuture<ClaimResult> later = new CompletableFuture<>();
        enqueue(new Item.Claim(request, time.nanos(), later));
        return later;
    }

    /** Settles; throws {@link StoreException}. */
    public SettleResult settle(Settlement settlement) {
        return submit(new Item.Settle(settlement, time.nanos(), null));
    }

    /** Settles without blocking; what follows runs on any thread, perhaps this one, and must not block. */
    public CompletableFuture<SettleResult> settleLater(Settlement settlement) {
        CompletableFuture<SettleResult> later = new CompletableFuture<>();
        enqueue(new Item.Settle(settlement, time.nanos(), later));
        return later;
    }

    /** Reads; throws {@link StoreException}. */
    public Optional<Entry> find(EntryId id) {
        return submit(new Item.Find(id, time.nanos()));
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

    /** Ends our threads when they have nothing to do; what still comes is carried all the same. */
    @Override
    public void close() {
        leaders.close();
    }

    private <R> R submit(Item<R> item) {
        pause.check();
        int lane = enter(item);
        while (!item.isDone()) {
            if (lane == Item.NO_LANE) {
                lane = await(item);
            } else {
                lead(lane, item);
            }
        }
        return item.result();
    }

    /** Waits for an answer or a lane; returns the lane, if any. */
    private int await(Item<?> item) {
        long waited = item.waitedNanos(time.nanos());
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
            int lane = lanes.findFree();
            if (lane != Item.NO_LANE && lanes.isWorthACall(queue.size() + 1)) {
                lanes.occupy(lane, queue.size() + 1, time.nanos());
                return lane;
            }
            takePlace(item);
            return Item.NO_LANE;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a place in the queue, and has it led if that is due. */
    private void enqueue(Item<?> item) {
        boolean call;
        try {
            pause.check();
            lock.lock();
            try {
                takePlace(item);
                checkLater();
                call = assign(false);
            } finally {
                lock.unlock();
            }
        } catch (StoreUnavailable e) {
            item.fail(e);
            item.tell();
            return;
        }
        call(call, false);
    }

    private void takePlace(Item<?> item) {
        if (lanes.isStuck(time.nanos(), waitMaxNanos)) {
            throw new StoreUnavailable("The store has not answered for " + Duration.ofNanos(waitMaxNanos), null);
        }
        if (queue.size() >= queueMax) {
            throw new StoreUnavailable("Too many callers (" + queueMax + ") wait for the store", null);
        }
        queue.addLast(item);
    }

    /**
     * Finds somebody to lead what waits, if it should go now: the first caller, if it waits itself, or one of our threads.
     *
     * @param gathered whether it should go in any case
     * @return whether one of our threads must be {@linkplain #call called}
     */
    private boolean assign(boolean gathered) {
        int lane = lanes.findFree();
        int waiting = queue.size();
        boolean led = coming > 0 && !gathered;
        if (lane == Item.NO_LANE || waiting == 0 || led || !(gathered || lanes.isWorthACall(waiting))) {
            return false;
        }
        if (queue.getFirst().hasCaller()) {
            lanes.occupy(lane, waiting, time.nanos());
            queue.removeFirst().passLane(lane);
            return false;
        }
        coming++;
        return true;
    }

    /** Calls one of our threads; not under the lock, which it needs. */
    private void call(boolean needed, boolean gathered) {
        if (!needed) {
            return;
        }
        try {
            leaders.execute(() -> leadOn(gathered));
        } catch (RuntimeException | Error e) {
            // No thread was to be had: what waits is looked after by the next check, and given up in time.
            log.error("Nobody leads to the store", e);
            lock.lock();
            try {
                coming--;
            } finally {
                lock.unlock();
            }
        }
    }

    /** For one who has gathered long enough: takes a free lane, if it still waits and there is one. */
    private int leaveQueue(Item<?> item) {
        lock.lock();
        try {
            int lane = lanes.findFree();
            if (lane != Item.NO_LANE && queue.remove(item)) {
                lanes.occupy(lane, queue.size() + 1, time.nanos());
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
                item.fail(late(item));
            } else if (!item.hasLane()) {
                item.fail(notAnswered());
            }
        } finally {
            lock.unlock();
        }
    }

    /** For an item that no call carries now. */
    private static StoreException late(Item<?> item) {
        return item.isDoubted()
                ? notAnswered()
                : new StoreUnavailable("The store did not get to it in time; nothing was done", null);
    }

    private static StoreException notAnswered() {
        return new StoreOutcomeUnknown("The store did not answer in time", null);
    }

    /**
     * Leads once, with an item of the caller's own. An interrupt is put aside meanwhile: drivers fail on it, and the others
     * in the batch were not interrupted.
     */
    private void lead(int lane, Item<?> own) {
        List<Item<?>> batch = List.of(own);
        boolean interrupted = Thread.interrupted();
        try {
            batch = take(lane, own);
            interrupted |= carrier.carry(batch, own.sinceNanos() + waitMaxNanos);
        } finally {
            if (!own.isDone()) {
                own.fail(late(own));
            }
            call(passOn(lane), false);
            batch.forEach(Item::tell);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Leads for others, as long as there is something worth it. */
    private void leadOn(boolean gathered) {
        int lane = come(gathered);
        while (lane != Item.NO_LANE) {
            List<Item<?>> batch = lanes.batch(lane);
            try {
                carrier.carry(batch, time.nanos() + waitMaxNanos);
            } catch (RuntimeException | Error e) {
                log.error("Carrying a batch to the store broke", e);
                batch.forEach(item -> item.fail(notAnswered()));
            }
            leave(lane);
            batch.forEach(Item::tell);
            lane = come(false);
        }
    }

    /** Takes a lane and what waits, if that should go now. */
    private int come(boolean gathered) {
        boolean another = false;
        lock.lock();
        try {
            coming--;
            int lane = lanes.findFree();
            if (lane == Item.NO_LANE || queue.isEmpty() || !(gathered || lanes.isWorthACall(queue.size()))) {
                return Item.NO_LANE;
            }
            lanes.occupy(lane, queue.size(), time.nanos());
            take(lane, queue.removeFirst());
            another = assign(false);
            return lane;
        } finally {
            lock.unlock();
            call(another, false);
        }
    }

    /** Frees the lane, to come again when the answers have been handed out. */
    private void leave(int lane) {
        lock.lock();
        try {
            takeBack(lanes.batch(lane));
            lanes.free(lane);
            coming++;
        } finally {
            lock.unlock();
        }
    }

    private List<Item<?>> take(int lane, Item<?> own) {
        lock.lock();
        try {
            List<Item<?>> batch = new ArrayList<>(Math.min(queue.size() + 1, Store.BATCH_MAX));
            // First, so that nothing is lost if memory runs out while the batch is made.
            lanes.load(lane, batch);
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
            lanes.load(lane, batch);
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private boolean passOn(int lane) {
        lock.lock();
        try {
            takeBack(lanes.batch(lane));
            lanes.free(lane);
            return assign(false);
        } finally {
            lock.unlock();
        }
    }

    /** What the leader had no time for goes with the next one, before everything else. */
    private void takeBack(List<Item<?>> batch) {
        for (int i = batch.size() - 1; i >= 0; i--) {
            if (!batch.get(i).isDone()) {
                queue.addFirst(batch.get(i));
            }
        }
    }

    private void checkLater() {
        if (!checking) {
            checking = true;
            time.schedule(GATHER_MAX, this::check);
        }
    }

    /** Does for those that do not block what {@link #await} does for the others. */
    private void check() {
        List<Item<?>> notReached = new ArrayList<>();
        List<Item<?>> notAnswered = new ArrayList<>();
        boolean gathered;
        boolean call;
        lock.lock();
        try {
            checking = false;
            long now = time.nanos();
            boolean more = findLate(queue, now, notReached);
            more |= findLate(lanes.carried(), now, notAnswered);
            if (!notReached.isEmpty()) {
                queue.removeAll(Set.copyOf(notReached));
            }
            gathered = !queue.isEmpty() && queue.getFirst().waitedNanos(now) >= GATHER_MAX_NANOS;
            call = assign(gathered);
            if (more) {
                checkLater();
            }
        } finally {
            lock.unlock();
        }
        call(call, gathered);
        notReached.forEach(item -> item.fail(late(item)));
        notAnswered.forEach(item -> item.fail(notAnswered()));
        notReached.forEach(Item::tell);
        notAnswered.forEach(Item::tell);
    }

    /** Finds what has waited for too long and gives up; returns whether there is something that may yet. */
    private boolean findLate(Collection<Item<?>> items, long now, List<Item<?>> late) {
        boolean more = false;
        for (Item<?> item : items) {
            if (!item.hasCaller() && !item.isTold()) {
                boolean isLate = item.waitedNanos(now) >= waitMaxNanos;
                more |= !isLate;
                if (isLate) {
                    late.add(item);
                }
            }
        }
        return more;
    }
}
