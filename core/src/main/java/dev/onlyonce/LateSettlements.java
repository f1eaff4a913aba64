package dev.onlyonce;

import dev.onlyonce.internal.Splitting;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settlements that the store did not take when they were made.
 *
 * <ol>
 *   <li>They are sent again in batches, with growing pauses, until the store answers. A lapsed lease is no reason to stop: the
 *       store takes the settlement until a sweep has changed the entry.
 *   <li>Each ends when the store takes it, answers that the claim is lost, or rejects it.
 *   <li>The release of an unconfirmed claim may arrive before the claim does, so <em>lost</em> ends it only after a while.
 * </ol>
 */
final class LateSettlements {
    /**
     * How many bytes of results may wait. An outage stops new claims, so more means that the store takes claims and refuses
     * results. Settlements over the bound are dropped, and their entries end as their terms say.
     */
    static final long BYTES_MAX = 64L << 20;

    /** A settlement that breaks the store's code for this long is given up. */
    static final Duration BROKEN_MAX = Duration.ofMinutes(10);

    private static final Duration PAUSE_FIRST = Duration.ofMillis(25);
    /** Recovery is noticed within this time. */
    private static final Duration PAUSE_LONGEST = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(LateSettlements.class);

    private final Parts parts;
    /** In the order in which they came. */
    private final NavigableMap<Long, Late> waiting = new ConcurrentSkipListMap<>();

    private final AtomicLong bytes = new AtomicLong();
    /** One round at a time. */
    private final ReentrantLock sending = new ReentrantLock();

    private int batchMax = Store.BATCH_MAX;
    private final AtomicLong count = new AtomicLong();
    /** The first of the batch that was sent last; at the beginning, before all others. */
    private long begunWith;

    private Duration pause = PAUSE_FIRST;
    private boolean scheduled;
    private volatile boolean closed;

    /**
     * A settlement that waits.
     *
     * @param number its place among all
     * @param sinceNanos when it began to wait
     * @param lostFromNanos when <em>lost</em> becomes final
     */
    private record Late(
            long number,
            Settlement settlement,
            long sinceNanos,
            long lostFromNanos,
            CompletableFuture<SettleResult> answer) {
        long bytes() {
            return settlement.result() == null ? 0 : settlement.result().length;
        }
    }

    LateSettlements(Parts parts) {
        this.parts = parts;
    }

    /**
     * Keeps trying to end a claim that this node holds. The future fails if the store will never take the settlement;
     * dependent stages must be quick.
     */
    CompletableFuture<SettleResult> add(Settlement settlement) {
        return add(settlement, parts.nanos());
    }

    /** The same for an unconfirmed claim, which may arrive at the store until {@code lostFromNanos}. */
    CompletableFuture<SettleResult> add(Settlement settlement, long lostFromNanos) {
        Late late =
                new Late(count.incrementAndGet(), settlement, parts.nanos(), lostFromNanos, new CompletableFuture<>());
        if (bytes.addAndGet(late.bytes()) > BYTES_MAX) {
            bytes.addAndGet(-late.bytes());
            late.answer.completeExceptionally(
                    new StoreUnavailable("Too many results (" + BYTES_MAX + " bytes) wait for the store", null));
            return late.answer;
        }
        waiting.put(late.number, late);
        schedule();
        return late.answer;
    }

    void close() {
        closed = true;
    }

    private synchronized void schedule() {
        if (!scheduled && !closed && !waiting.isEmpty()) {
            scheduled = true;
            parts.schedule(pause, this::round);
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
     * Sends all waiting settlements before a sweep makes their entries unknown. After an outage these connections may be dead
     * while the sweep's is alive.
     *
     * @return whether the store has answered for all of them
     */
    boolean sendBeforeSweep() {
        if (sending.isHeldByCurrentThread()) {
            return true;
        }
        sending.lock();
        try {
            return sendAll();
        } finally {
            sending.unlock();
        }
    }

    /** Sends all waiting settlements once. Returns whether any of them has ended. */
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
            begunWith = batch.get(0).number;
            if (!send(batch)) {
                return false;
            }
        }
        return true;
    }

    /** Starts after the batch that was sent last, so that a batch that always fails does not block the others. */
    private List<Late> inTurn() {
        List<Late> all = new ArrayList<>(waiting.tailMap(begunWith, false).values());
        all.addAll(waiting.headMap(begunWith, true).values());
        return all;
    }

    /** Returns whether the store answered. */
    private boolean send(List<Late> batch) {
        try {
            Splitting.send(
                    batch,
                    lates -> parts.store()
                            .settle(lates.stream().map(Late::settlement).toList()),
                    this::answered,
                    this::failed);
            batchMax = Store.BATCH_MAX;
            return true;
        } catch (StoreUnavailable | StoreOutcomeUnknown e) {
            if (e instanceof StoreOutcomeUnknown) {
                // One slow row may delay the whole batch: try smaller ones.
                batchMax = Math.max(1, batchMax / 2);
            }
            parts.tell(new Event.StoreFailed(e));
            return false;
        }
    }

    private void answered(Late late, SettleResult result) {
        boolean arrivesYet = result instanceof SettleResult.Lost && parts.nanos() - late.lostFromNanos < 0;
        if (!(result instanceof SettleResult.Busy) && !arrivesYet) {
            forget(late);
            late.answer.complete(result);
        }
    }

    private void failed(Late late, Throwable thrown) {
        boolean refused = thrown instanceof StoreRejected;
        if (thrown instanceof StoreException failure) {
            parts.tell(new Event.StoreFailed(failure));
        } else {
            log.error("Settling {} broke", late.settlement.id(), thrown);
            refused = parts.nanos() - late.sinceNanos >= BROKEN_MAX.toNanos();
        }
        if (refused) {
            forget(late);
            late.answer.completeExceptionally(thrown);
        }
    }

    private void forget(Late late) {
        if (waiting.remove(late.number, late)) {
            bytes.addAndGet(-late.bytes());
        }
    }
}
