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
 * Letters of one topic that a thread applies, what became of them so far, and which of them its handler has just now. The thread that
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
public final class Round {
    private final List<? extends Letter<?>> letters;
    private final Time time;
    private final Duration handlerMax;

    /** Taken before the lock of this object. The thread that consumes never takes it: drivers may block. */
    private final Object holding = new Object();

    // Guarded by this.
    private final Map<Letter<?>, Applied> answers = new HashMap<>();
    private final Set<Letter<?>> overdue = new HashSet<>();
    private @Nullable Letter<?> handled;
    private @Nullable Hold hold;
    private @Nullable Thread thread;
    private long sinceNanos;
    private boolean abandoned;

    Round(List<? extends Letter<?>> letters, Time time, Duration handlerMax) {
        this.letters = List.copyOf(letters);
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

    /** The letters, in their order. */
    List<? extends Letter<?>> letters() {
        return letters;
    }

    /** Says what became of a letter. The others may take longer. */
    synchronized void answer(Letter<?> letter, Applied applied) {
        answers.putIfAbsent(letter, applied);
    }

    /** What became of letters since the last call. */
    synchronized Map<Letter<?>, Applied> takeAnswers() {
        Map<Letter<?>, Applied> taken = new HashMap<>(answers);
        answers.clear();
        return taken;
    }

    /** Calls the handler of a letter; not again, if it was interrupted before in this round. */
    void handle(Letter<?> letter, Hold held, Handling handling) throws Exception {
        synchronized (this) {
            if (abandoned || overdue.contains(letter)) {
                throw new HandlerHung(handlerMax, null);
            }
            handled = letter;
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
            throw isOurs && isOverdue(letter) ? new HandlerHung(handlerMax, e) : e;
        } finally {
            end(letter);
        }
    }

    /** Whether its handler was interrupted, and has not returned. */
    synchronized boolean isOverdue() {
        return handled != null && overdue.contains(handled);
    }

    private synchronized boolean isOverdue(Letter<?> letter) {
        return overdue.contains(letter);
    }

    private void end(Letter<?> letter) {
        synchronized (holding) {
            synchronized (this) {
                handled = null;
                hold = null;
                if (overdue.contains(letter)) {
                    // Ours, and it has done its work.
                    Thread.interrupted();
                }
            }
        }
    }

    /** For how long the handler has had its letter; 0 if it has none. */
    synchronized long handledNanos() {
        return handled == null ? 0 : time.nanos() - sinceNanos;
    }

    /** Interrupts the handler; returns its letter, if it has one that was not interrupted before. */
    synchronized @Nullable Letter<?> interrupt() {
        Letter<?> letter = handled;
        if (letter == null || thread == null || !overdue.add(letter)) {
            return null;
        }
        thread.interrupt();
        inBackground(letter, Hold::cancel);
        return letter;
    }

    /** Cuts the connection of the handler. */
    synchronized void cut() {
        if (handled != null) {
            inBackground(handled, Hold::cut);
        }
    }

    /** Gives the handler up; returns its letter, if it has one. No other handler is called in this round. */
    synchronized @Nullable Letter<?> abandon() {
        abandoned = handled != null;
        return handled;
    }

    /** Whether nobody waits for it any more. */
    synchronized boolean isAbandoned() {
        return abandoned;
    }

    /** On a thread of its own, because drivers may block. The handler's thread waits for its end. */
    private void inBackground(Letter<?> letter, Consumer<Hold> what) {
        Thread helper = new Thread(
                () -> {
                    synchronized (holding) {
                        Hold held = holdOf(letter);
                        if (held != null) {
                            what.accept(held);
                        }
                    }
                },
                "onlyonce-messages-cut");
        helper.setDaemon(true);
        helper.start();
    }

    private synchronized @Nullable Hold holdOf(Letter<?> letter) {
        return letter.equals(handled) ? hold : null;
    }
}
