package dev.onlyonce.internal;

import static dev.onlyonce.internal.PendingCall.NO_LANE;

import dev.onlyonce.store.EntryId;
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
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that wait for the store, and who leads them there; {@link GroupingStore} has the algorithm. One lock guards the
 * queue and the lanes. Nobody calls the store or completes a future while holding it.
 */
final class CallQueue implements AutoCloseable {
    /** Two keep the store busy while a leader hands out answers; more only make batches smaller. */
    static final int LANES = 2;
    /** Nobody gathers for longer while a lane is free: the call under way may hang. */
    static final Duration GATHER_MAX = Duration.ofMillis(20);

    private static final Logger log = LoggerFactory.getLogger(CallQueue.class);

    private final Time time;
    private final int queueMax;
    private final long waitMaxNanos;
    private final Pause pause;
    private final BatchWriter writer;
    private final DaemonThreads leaders = new DaemonThreads("onlyonce-store", LANES);

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<PendingCall<?, ?>> queue = new ArrayDeque<>();
    private final Lanes lanes = new Lanes(LANES);
    /** How many of our threads are about to look at the queue: calls that arrive before they do join their batch. */
    private int summoned;
    /** Whether {@link #check} is scheduled. */
    private boolean checking;

    CallQueue(Time time, GroupingStore.Limits limits, Consumer<StoreException> onFailure) {
        this.time = time;
        this.queueMax = limits.queueMax();
        this.waitMaxNanos = limits.waitMax().toNanos();
        this.pause = new Pause(time);
        this.writer = new BatchWriter(time, pause, onFailure);
    }

    /** How many calls wait for a leader. */
    int size() {
        lock.lock();
        try {
            return queue.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        leaders.endIdle();
    }

    /** Makes a call for the current thread, which leads or waits. */
    <R> R submit(PendingCall<?, R> call) {
        pause.check();
        int lane = NO_LANE;
        if (call.mayLead()) {
            lane = enter(call);
        } else {
            join(call);
        }
        while (!call.isDone()) {
            if (lane == NO_LANE) {
                lane = await(call);
            } else {
                lead(lane, call);
            }
        }
        return call.result();
    }

    /** Waits for an answer or a lane; returns the lane, if any. */
    private int await(PendingCall<?, ?> call) {
        long waited = call.waitedNanos(time.nanos());
        if (waited >= waitMaxNanos) {
            giveUp(call);
            // A lane that was passed just now still needs its leader.
            return call.awaitNanos(0);
        }
        if (!call.mayLead()) {
            return call.awaitNanos(waitMaxNanos - waited);
        }
        if (waited >= GATHER_MAX.toNanos()) {
            int lane = leaveQueue(call);
            return lane == NO_LANE ? call.awaitNanos(waitMaxNanos - waited) : lane;
        }
        return call.awaitNanos(Math.min(waitMaxNanos, GATHER_MAX.toNanos()) - waited);
    }

    /** Takes a free lane, or a place in the queue. */
    private int enter(PendingCall<?, ?> call) {
        lock.lock();
        try {
            int lane = lanes.findFree();
            if (lane != NO_LANE && lanes.isWorthACall(queue.size() + 1)) {
                lanes.occupy(lane, queue.size() + 1, time.nanos());
                return lane;
            }
            takePlace(call);
            return NO_LANE;
        } finally {
            lock.unlock();
        }
    }

    /** Makes a call whose future receives the answer; never blocks. */
    void enqueue(PendingCall<?, ?> call) {
        try {
            pause.check();
            join(call);
        } catch (StoreUnavailable e) {
            call.fail(e);
            call.completeFuture();
        }
    }

    /** Takes a place in the queue for a call that others lead. */
    private void join(PendingCall<?, ?> call) {
        boolean summons;
        lock.lock();
        try {
            takePlace(call);
            scheduleCheck();
            summons = assign(false);
        } finally {
            lock.unlock();
        }
        summon(summons, false);
    }

    private void takePlace(PendingCall<?, ?> call) {
        if (lanes.isStuck(time.nanos(), waitMaxNanos)) {
            throw new StoreUnavailable("The store has not answered for " + Duration.ofNanos(waitMaxNanos), null);
        }
        if (queue.size() >= queueMax) {
            throw new StoreUnavailable("Too many callers (" + queueMax + ") wait for the store", null);
        }
        queue.addLast(call);
    }

    /**
     * Finds a leader for the queue, if it should go now: the first caller, if its thread waits, or one of our threads.
     *
     * @param gathered whether the queue should go in any case
     * @return whether one of our threads must be {@linkplain #summon summoned}
     */
    private boolean assign(boolean gathered) {
        int lane = lanes.findFree();
        int waiting = queue.size();
        boolean led = summoned > 0 && !gathered;
        if (lane == NO_LANE || waiting == 0 || led || !(gathered || lanes.isWorthACall(waiting))) {
            return false;
        }
        if (queue.getFirst().mayLead()) {
            lanes.occupy(lane, waiting, time.nanos());
            queue.removeFirst().passLane(lane);
            return false;
        }
        summoned++;
        return true;
    }

    /** Has one of our threads lead, if needed. Not under the lock, which that thread needs. */
    private void summon(boolean needed, boolean gathered) {
        if (!needed) {
            return;
        }
        try {
            time.run(leaders, () -> leadOn(gathered));
        } catch (RuntimeException | Error e) {
            // There is no thread. The next check finds a leader for the queue, or gives its calls up in time.
            log.error("Nobody leads to the store", e);
            lock.lock();
            try {
                summoned--;
            } finally {
                lock.unlock();
            }
        }
    }

    /** For a caller that has gathered long enough: takes a free lane, if it still waits and there is one. */
    private int leaveQueue(PendingCall<?, ?> call) {
        lock.lock();
        try {
            int lane = lanes.findFree();
            if (lane != NO_LANE && queue.remove(call)) {
                lanes.occupy(lane, queue.size() + 1, time.nanos());
                return lane;
            }
            return NO_LANE;
        } finally {
            lock.unlock();
        }
    }

    private void giveUp(PendingCall<?, ?> call) {
        lock.lock();
        try {
            if (queue.remove(call)) {
                call.fail(notReached(call));
            } else if (!call.hasLane()) {
                call.fail(notAnswered());
            }
        } finally {
            lock.unlock();
        }
    }

    /** For a call that is not under way now. */
    private static StoreException notReached(PendingCall<?, ?> call) {
        return call.isInDoubt()
                ? notAnswered()
                : new StoreUnavailable("The store did not get to it in time; nothing was done", null);
    }

    private static StoreException notAnswered() {
        return new StoreOutcomeUnknown("The store did not answer in time", null);
    }

    /**
     * Leads one batch with the caller's own call in it. An interrupt is put aside meanwhile: drivers fail on it, and the
     * other callers in the batch were not interrupted. If one comes during the call to the store, the call is made again by one
     * of our own threads, which nobody interrupts: the store has not failed.
     */
    private void lead(int lane, PendingCall<?, ?> own) {
        List<PendingCall<?, ?>> batch = List.of(own);
        boolean interrupted = Thread.interrupted();
        boolean disturbed = false;
        try {
            batch = take(lane, own);
            disturbed = writer.write(batch, own.sinceNanos() + waitMaxNanos);
        } finally {
            interrupted |= disturbed;
            if (disturbed) {
                own.follow();
            } else if (!own.isDone()) {
                own.fail(notReached(own));
            }
            passOn(lane);
            batch.forEach(PendingCall::completeFuture);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Leads on one of our threads until no batch is worth a call. */
    private void leadOn(boolean gathered) {
        int lane = takeLane(gathered);
        while (lane != NO_LANE) {
            List<PendingCall<?, ?>> batch = lanes.batch(lane);
            try {
                writer.write(batch, time.nanos() + waitMaxNanos);
            } catch (RuntimeException | Error e) {
                log.error("Writing a batch to the store broke", e);
                batch.forEach(call -> call.fail(notAnswered()));
            }
            leave(lane);
            batch.forEach(PendingCall::completeFuture);
            lane = takeLane(false);
        }
    }

    /** Takes a lane and a batch, if the queue should go now. */
    private int takeLane(boolean gathered) {
        boolean another = false;
        lock.lock();
        try {
            summoned--;
            int lane = lanes.findFree();
            if (lane == NO_LANE || queue.isEmpty() || !(gathered || lanes.isWorthACall(queue.size()))) {
                return NO_LANE;
            }
            lanes.occupy(lane, queue.size(), time.nanos());
            take(lane, queue.removeFirst());
            another = assign(false);
            return lane;
        } finally {
            lock.unlock();
            summon(another, false);
        }
    }

    /** Frees the lane. This thread returns for another when it has handed out the answers. */
    private void leave(int lane) {
        lock.lock();
        try {
            takeBack(lanes.batch(lane));
            lanes.free(lane);
            summoned++;
        } finally {
            lock.unlock();
        }
    }

    private List<PendingCall<?, ?>> take(int lane, PendingCall<?, ?> own) {
        lock.lock();
        try {
            if (queue.isEmpty()) {
                List<PendingCall<?, ?>> alone = List.of(own);
                lanes.load(lane, alone);
                return alone;
            }
            List<PendingCall<?, ?>> batch = new ArrayList<>(Math.min(queue.size() + 1, Store.BATCH_MAX));
            // First, so that no call is lost if memory runs out while the batch is made.
            lanes.load(lane, batch);
            Set<EntryId> ids = new HashSet<>();
            batch.add(own);
            ids.add(own.id());
            Iterator<PendingCall<?, ?>> waiting = queue.iterator();
            while (waiting.hasNext() && batch.size() < Store.BATCH_MAX) {
                PendingCall<?, ?> call = waiting.next();
                if (call.kind() == own.kind() && ids.add(call.id())) {
                    batch.add(call);
                    waiting.remove();
                }
            }
            lanes.load(lane, batch);
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private void passOn(int lane) {
        boolean summons;
        lock.lock();
        try {
            takeBack(lanes.batch(lane));
            lanes.free(lane);
            if (!queue.isEmpty() && !queue.getFirst().mayLead()) {
                scheduleCheck();
            }
            summons = assign(false);
        } finally {
            lock.unlock();
        }
        summon(summons, false);
    }

    /** Calls that the leader had no time for go with the next one, before all others. */
    private void takeBack(List<PendingCall<?, ?>> batch) {
        for (int i = batch.size() - 1; i >= 0; i--) {
            if (!batch.get(i).isDone()) {
                queue.addFirst(batch.get(i));
            }
        }
    }

    private void scheduleCheck() {
        if (!checking) {
            checking = true;
            time.schedule(GATHER_MAX, this::check);
        }
    }

    /** Does for callers that do not block what {@link #await} does for the others. */
    private void check() {
        List<PendingCall<?, ?>> notReached = new ArrayList<>();
        List<PendingCall<?, ?>> notAnswered = new ArrayList<>();
        boolean gathered;
        boolean summons;
        lock.lock();
        try {
            checking = false;
            long now = time.nanos();
            boolean more = findLate(queue, now, notReached);
            more |= findLate(lanes.underWay(), now, notAnswered);
            if (!notReached.isEmpty()) {
                queue.removeAll(Set.copyOf(notReached));
            }
            gathered = !queue.isEmpty() && queue.getFirst().waitedNanos(now) >= GATHER_MAX.toNanos();
            summons = assign(gathered);
            if (more) {
                scheduleCheck();
            }
        } finally {
            lock.unlock();
        }
        summon(summons, gathered);
        notReached.forEach(call -> call.fail(notReached(call)));
        notAnswered.forEach(call -> call.fail(notAnswered()));
        notReached.forEach(PendingCall::completeFuture);
        notAnswered.forEach(PendingCall::completeFuture);
    }

    /** Collects the calls that have waited too long; returns whether others may yet. */
    private boolean findLate(Collection<PendingCall<?, ?>> calls, long now, List<PendingCall<?, ?>> late) {
        boolean more = false;
        for (PendingCall<?, ?> call : calls) {
            if (!call.mayLead() && !call.isHandedOut()) {
                if (call.waitedNanos(now) >= waitMaxNanos) {
                    late.add(call);
                } else {
                    more = true;
                }
            }
        }
        return more;
    }
}
