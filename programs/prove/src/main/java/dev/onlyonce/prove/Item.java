package dev.onlyonce.prove;

import dev.onlyonce.prove.Seen.Asked;
import java.util.ArrayDeque;
import java.util.Deque;

/** A work and how far its clients have come. Any number of threads. */
final class Item {
    private static final int FAILED = 402;

    final Work work;
    /** Whether an operator may evict it. Then nobody misuses its key, which could be a first use. */
    final boolean evictable;

    private int answers;
    private boolean executed;
    private boolean unknown;
    private boolean ended;
    private int retries;
    private final Deque<Long> waiting = new ArrayDeque<>();

    Item(Work work, boolean evictable) {
        this.work = work;
        this.evictable = evictable;
    }

    synchronized long asks() {
        long now = System.nanoTime();
        waiting.add(now);
        return now;
    }

    synchronized void saw(Asked asked, long since) {
        waiting.remove(since);
        if (!asked.isMisuse()) {
            answers += asked.isAnswered() ? 1 : 0;
            executed |= asked.isAnswered() && !asked.replayed();
            ended |= asked.isAnswered() || asked.status() == FAILED;
            unknown = asked.status() == 409 && asked.answer().equals("outcome_unknown");
        }
    }

    synchronized int answers() {
        return answers;
    }

    /** Whether somebody has waited for its answer for longer than a lease: its owner may be paused. */
    synchronized boolean isAwaited() {
        Long first = waiting.peek();
        return first != null && System.nanoTime() - first > Timing.LEASE.toNanos();
    }

    /** Whether its entry is there for certain, so that another request must be refused. */
    synchronized boolean hasEntry() {
        return executed || unknown;
    }

    /** Whether its outcome was unknown just now. */
    synchronized boolean isUnknown() {
        return unknown;
    }

    /** It may run again. */
    synchronized void evicted() {
        answers = 0;
    }

    /** From now on it counts whether it ends again. */
    synchronized void begin() {
        ended = false;
    }

    /** A retry after the last fault. */
    synchronized void retried() {
        retries++;
    }

    /** Whether it has been retried so often that it would have ended on any machine. */
    synchronized boolean isStuck() {
        return !ended && retries >= Timing.STUCK_RETRIES;
    }

    /** Whether it has no final answer, and the machine was too slow to say that it never gets one. */
    synchronized boolean isUndecided() {
        return !ended && retries < Timing.STUCK_RETRIES;
    }

    /** Whether there was a final answer. */
    synchronized boolean isEnded() {
        return ended;
    }
}
