package dev.onlyonce;

import dev.onlyonce.internal.Splitting;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settlements that the store did not take when they were made.
 *
 * <ol>
 *   <li>They are sent again in batches, with growing pauses, for as long as the store is out. A lapsed lease is no reason to
 *       stop: until somebody has swept the entry, the store takes the settlement.
 *   <li>One ends when the store takes it, says that the claim is lost, or rejects it for good.
 *   <li>The release of a claim that was never confirmed may arrive before the claim itself does; so <em>lost</em> ends it
 *       only after a while.
 * </ol>
 */
final class LateSettlements {
    /**
     * How many bytes of results may wait. An outage stops new claims, so more means that the store takes claims and refuses
     * results; those over the bound are dropped, and their entries end as their terms say.
     */
    static final long BYTES_MAX = 64L << 20;

    /** What breaks the store's code for so long breaks it for good. */
    static final Duration BROKEN_MAX = Duration.ofMinutes(10);

    /** How many sweeps in a row wait for settlements that the store does not answer. */
    static final int SWEEPS_PUT_OFF_MAX = 10;

    private static final Duration PAUSE_FIRST = Duration.ofMillis(25);
    /** Recovery is noticed within this time. */
    private static final Duration PAUSE_LONGEST = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(LateSettlements.class);

    private final Store store;
    private final Time time;
    private final Events events;
    /** In the order of their tokens, which is that of their claims, so that a simulation goes the same way every time. */
    private final NavigableMap<UUID, Late> waiting = new ConcurrentSkipListMap<>();

    private final AtomicLong bytes = new AtomicLong();
    /** One round at a time. */
    private final ReentrantLock sending = new ReentrantLock();

    private int putOff;
    private int batchMax = Store.BATCH_MAX;
    private @Nullable UUID begunWith;
    private Duration pause = PAUSE_FIRST;
    private boolean scheduled;
    private volatile boolean closed;

    /**
     * One that waits.
     *
     * @param sinceNanos since when
     * @param lostFromNanos from when on <em>lost</em> is believed
     */
    private record Late(
            Settlement settlement, long sinceNanos, long lostFromNanos, CompletableFuture<SettleResult> answer) {
        long bytes() {
            return settlement.result() == null ? 0 : settlement.result().length;
        }
    }

    LateSettlements(Store store, Time time, Events events) {
        this.store = store;
        this.time = time;
        this.events = events;
    }

    /**
     * Goes on trying to end a claim that this node holds. The stage fails if the settlement will never be taken; what
     * follows on it must be quick.
     */
    CompletableFuture<SettleResult> add(Settlement settlement) {
        return add(settlement, time.nanos());
    }

    /** The same for a claim that was never confirmed, and may yet arrive at the store until then. */
    CompletableFuture<SettleResult> add(Settlement settlement, long lostFromNanos) {
        Late late = new Late(settlement, time.nanos(), lostFromNanos, new CompletableFuture<>());
        if (bytes.addAndGet(late.bytes()) > BYTES_MAX) {
            bytes.addAndGet(-late.bytes());
            late.answer.completeExceptionally(
                    new StoreUnavailable("Too many results (" + BYTES_MAX + " bytes) wait for the store", null));
            return late.answer;
        }
        waiting.put(settlement.token(), late);
        schedule();
        return late.answer;
    }

    void close() {
        closed = true;
    }

    private synchronized void schedule() {
        if (!scheduled && !closed && !waiting.isEmpty()) {
            scheduled = true;
            time.schedule(pause, this::round);
        }
    }

    private void round() {
        boolean progress = false;
        try {
            progress = send();
        } catch (RuntimeException | Error e) {
            log.error("Sending late settlements broke; they are tried again", e);
        } finally {
            synchronized (this) {
                scheduled = false;
                Duration doubled = pause.multipliedBy(2);
                pause = progress ? PAUSE_FIRST : doubled.compareTo(PAUSE_LONGEST) < 0 ? doubled : PAUSE_LONGEST;
            }
            schedule();
        }
    }

    /**
     * Sends what waits now, before a sweep makes it unknown. After an outage the first connections may be dead while the
     * sweep's is not; so the sweep is put off, but not for ever: what is never answered must not keep it.
     *
     * @return whether to sweep: the store has answered for all of it, or has not for too many sweeps
     */
    boolean sendBeforeSweep() {
        if (sending.isHeldByCurrentThread()) {
            return true;
        }
        sending.lock();
        try {
            boolean answered = sendAll();
            putOff = answered || putOff == SWEEPS_PUT_OFF_MAX ? 0 : putOff + 1;
            return putOff == 0;
        } finally {
            sending.unlock();
        }
    }

    /** Sends what waits now, once. Returns whether something of it has ended. */
    private boolean send() {
        if (waiting.isEmpty() || sending.isHeldByCurrentThread()) {
            return false;
        }
        sending.lock();
        try {
            int before = waiting.size();
            sendAll();
            return waiting.size() < before;
        } finally {
            sending.unlock();
        }
    }

    /** Returns whether the store has answered for everything. */
    private boolean sendAll() {
        List<Late> all = inTurn();
        for (int from = 0; from < all.size(); from += batchMax) {
            List<Late> batch = all.subList(from, Math.min(all.size(), from + batchMax));
            begunWith = batch.get(0).settlement.token();
            if (!send(batch)) {
                return false;
            }
        }
        return true;
    }

    /** Begins after the batch that was begun last, so that one which always fails does not keep the others for ever. */
    private List<Late> inTurn() {
        List<Late> all = new ArrayList<>();
        if (begunWith != null) {
            all.addAll(waiting.tailMap(begunWith, false).values());
            all.addAll(waiting.headMap(begunWith, true).values());
        } else {
            all.addAll(waiting.values());
        }
        return all;
    }

    /** Whether the store answers. */
    private boolean send(List<Late> batch) {
        try {
            Splitting.send(
                    batch,
                    lates -> store.settle(lates.stream().map(Late::settlement).toList()),
                    new Answers());
            batchMax = Store.BATCH_MAX;
            return true;
        } catch (StoreUnavailable e) {
            events.tell(new Event.StoreFailed(e));
            return false;
        } catch (StoreOutcomeUnknown e) {
            // One slow row may be why the whole batch is: smaller ones will tell.
            batchMax = Math.max(1, batchMax / 2);
            events.tell(new Event.StoreFailed(e));
            return false;
        }
    }

    private final class Answers implements Splitting.Answers<Late, SettleResult> {
        @Override
        public void answered(Late late, SettleResult result) {
            boolean arrivesYet = result instanceof SettleResult.Lost && time.nanos() - late.lostFromNanos < 0;
            if (!(result instanceof SettleResult.Busy) && !arrivesYet) {
                forget(late);
                late.answer.complete(result);
            }
        }

        @Override
        public void failed(Late late, Throwable thrown) {
            boolean refused = thrown instanceof StoreRejected;
            if (thrown instanceof StoreException failure) {
                events.tell(new Event.StoreFailed(failure));
            } else {
                log.error("Settling {} broke", late.settlement.id(), thrown);
                refused = time.nanos() - late.sinceNanos >= BROKEN_MAX.toNanos();
            }
            if (refused) {
                forget(late);
                late.answer.completeExceptionally(thrown);
            }
        }
    }

    private void forget(Late late) {
        if (waiting.remove(late.settlement.token(), late)) {
            bytes.addAndGet(-late.bytes());
        }
    }
}
