package dev.onlyonce;

import dev.onlyonce.internal.DaemonThreads;
import dev.onlyonce.internal.ForOthers;
import dev.onlyonce.store.Entry;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls reconcilers on threads of their own. One that does not answer in time is interrupted, and what it answers later counts for
 * nothing. It is not asked again before it has returned, and not in the same {@linkplain #begin round}: the others get their turn.
 */
final class ReconcilerCalls {
    /** A look-up is a read, and longer than clients usually wait for one. */
    static final Duration ANSWER_MAX = Duration.ofMinutes(1);

    private static final Logger log = LoggerFactory.getLogger(ReconcilerCalls.class);

    private final Duration answerMax;
    private final DaemonThreads threads;
    /** Those that were late, and whether they have returned since. */
    private final IdentityHashMap<Reconciler, Boolean> late = new IdentityHashMap<>(); // guarded by this

    /** For this many reconcilers. */
    ReconcilerCalls(int reconcilers, Duration answerMax) {
        this.answerMax = answerMax;
        this.threads = new DaemonThreads("onlyonce-reconciler", Math.max(1, reconcilers));
    }

    /** A new round: those that were late and have returned may be asked again. */
    synchronized void begin() {
        late.values().removeIf(returned -> returned);
    }

    /** Whether this one may be asked now. */
    synchronized boolean isFree(Reconciler reconciler) {
        return !late.containsKey(reconciler);
    }

    /** A call under way. */
    private static final class Call {
        private final CompletableFuture<Reconciler.Finding> answer = new CompletableFuture<>();
        private @Nullable Thread thread; // guarded by this
        private boolean isGivenUp; // guarded by this
        private boolean hasReturned; // guarded by the calls

        void run(Reconciler reconciler, Entry entry) {
            synchronized (this) {
                if (isGivenUp) {
                    return;
                }
                thread = Thread.currentThread();
            }
            try {
                answer.complete(Objects.requireNonNull(reconciler.reconcile(entry), "the finding"));
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            } finally {
                synchronized (this) {
                    thread = null;
                    // Ours, or left behind by the reconciler: not the next one's.
                    Thread.interrupted();
                }
            }
        }

        synchronized void giveUp() {
            isGivenUp = true;
            if (thread != null) {
                thread.interrupt();
            }
        }
    }

    /** The finding; an interrupt of the caller ends the wait, and stays. */
    Reconciler.Finding ask(Reconciler reconciler, Entry entry) {
        Call call = new Call();
        try {
            threads.execute(() -> {
                ForOthers.run(() -> call.run(reconciler, entry));
                returned(reconciler, call);
            });
            return call.answer.get(answerMax.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            giveUp(reconciler, call);
            log.error(
                    "The reconciler of {} has not answered for {}, and is interrupted; give it a time-out. {} stays unknown",
                    entry.operation(),
                    answerMax,
                    entry.id());
            return new Reconciler.Finding.CannotTell("the reconciler did not answer within " + answerMax);
        } catch (InterruptedException e) {
            giveUp(reconciler, call);
            Thread.currentThread().interrupt();
            return new Reconciler.Finding.CannotTell("the reconciler was interrupted");
        } catch (ExecutionException e) {
            return new Reconciler.Finding.CannotTell("the reconciler failed: " + e.getCause());
        } catch (RuntimeException | Error e) {
            return new Reconciler.Finding.CannotTell("the reconciler could not be asked: " + e);
        }
    }

    private void giveUp(Reconciler reconciler, Call call) {
        synchronized (this) {
            late.put(reconciler, call.hasReturned);
        }
        call.giveUp();
    }

    private synchronized void returned(Reconciler reconciler, Call call) {
        call.hasReturned = true;
        late.replace(reconciler, true);
    }
}
