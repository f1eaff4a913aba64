package dev.onlyonce.messages.adapter;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Messages of one topic that a thread applies, what became of them so far, and which of them its handler has just now. The thread that
 * consumes watches it: a handler that takes too long is
 *
 * <ol>
 *   <li>interrupted, and the statement that it waits for is cancelled,
 *   <li>then its connection is cut,
 *   <li>then it is abandoned: its thread runs on, and nobody waits for it.
 * </ol>
 *
 * <p>Nothing of that hits what the thread does after the handler: it goes on when nobody is cancelling or cutting any more.
 */
public final class HandlerRun {
    private final List<? extends PendingMessage<?>> messages;
    private final Time time;
    private final Duration handlerMax;

    /** Taken before the lock of this object. The thread that consumes never takes it: drivers may block. */
    private final Object holding = new Object();

    // Guarded by this.
    private final Map<PendingMessage<?>, Applied> answers = new HashMap<>();
    private final Set<PendingMessage<?>> overdue = new HashSet<>();
    private @Nullable PendingMessage<?> handled;
    private @Nullable Hold hold;
    private @Nullable Thread thread;
    private long sinceNanos;
    private boolean abandoned;

    HandlerRun(List<? extends PendingMessage<?>> messages, Time time, Duration handlerMax) {
        this.messages = List.copyOf(messages);
        this.time = time;
        this.handlerMax = handlerMax;
    }

    /** A handler's call. */
    @FunctionalInterface
    interface Handling {
        void run() throws Exception;
    }

    /** What a handler may be waiting for. Called by any thread, and may block. */
    interface Hold {
        /** Holds nothing. */
        Hold NOTHING = new Hold() {};

        /** Cancels what it waits for. */
        default void cancel() {}

        /** Cuts its connection: nothing of what it did stays. */
        default void cut() {}
    }

    /** The messages, in their order. */
    List<? extends PendingMessage<?>> messages() {
        return messages;
    }

    /** Says what became of a message. The others may take longer. */
    synchronized void answer(PendingMessage<?> pending, Applied applied) {
        answers.putIfAbsent(pending, applied);
    }

    /** What became of messages since the last call. */
    synchronized Map<PendingMessage<?>, Applied> takeAnswers() {
        Map<PendingMessage<?>, Applied> taken = new HashMap<>(answers);
        answers.clear();
        return taken;
    }

    /** Calls the handler of a message; not again, if it was interrupted before in this run. */
    void handle(PendingMessage<?> pending, Hold held, Handling handling) throws Exception {
        synchronized (this) {
            if (abandoned || overdue.contains(pending)) {
                throw new HandlerHung(handlerMax, null);
            }
            handled = pending;
            hold = held;
            thread = Thread.currentThread();
            sinceNanos = time.nanos();
        }
        try {
            handling.run();
        } catch (PoisonMessage e) {
            throw e;
        } catch (Exception e) {
            // That it did nothing is not believed then: the interrupt may have come between the effect and its answer.
            boolean isOurs = e instanceof InterruptedException || e instanceof NotExecuted || held != Hold.NOTHING;
            throw isOurs && isOverdue(pending) ? new HandlerHung(handlerMax, e) : e;
        } finally {
            end(pending);
        }
    }

    /** Whether its handler was interrupted, and has not returned. */
    synchronized boolean isOverdue() {
        return handled != null && overdue.contains(handled);
    }

    private synchronized boolean isOverdue(PendingMessage<?> pending) {
        return overdue.contains(pending);
    }

    private void end(PendingMessage<?> pending) {
        synchronized (holding) {
            synchronized (this) {
                handled = null;
                hold = null;
                if (overdue.contains(pending)) {
                    // Ours, and it has done its work.
                    Thread.interrupted();
                }
            }
        }
    }

    /** For how long the handler has had its message; 0 if it has none. */
    synchronized long handledNanos() {
        return handled == null ? 0 : time.nanos() - sinceNanos;
    }

    /** Interrupts the handler; returns its message, if it has one that was not interrupted before. */
    synchronized @Nullable PendingMessage<?> interrupt() {
        PendingMessage<?> pending = handled;
        if (pending == null || thread == null || !overdue.add(pending)) {
            return null;
        }
        thread.interrupt();
        inBackground(pending, Hold::cancel);
        return pending;
    }

    /** Cuts the connection of the handler. */
    synchronized void cut() {
        if (handled != null) {
            inBackground(handled, Hold::cut);
        }
    }

    /** Gives the handler up; returns its message, if it has one. No other handler is called in this run. */
    synchronized @Nullable PendingMessage<?> abandon() {
        abandoned = handled != null;
        return handled;
    }

    /** Whether nobody waits for it any more. */
    synchronized boolean isAbandoned() {
        return abandoned;
    }

    /** On a thread of its own, because drivers may block. The handler's thread waits for its end. */
    private void inBackground(PendingMessage<?> pending, Consumer<Hold> what) {
        Thread helper = new Thread(
                () -> {
                    synchronized (holding) {
                        Hold held = holdOf(pending);
                        if (held != null) {
                            what.accept(held);
                        }
                    }
                },
                "onlyonce-messages-cut");
        helper.setDaemon(true);
        helper.start();
    }

    private synchronized @Nullable Hold holdOf(PendingMessage<?> pending) {
        return pending.equals(handled) ? hold : null;
    }
}
