package dev.onlyonce.messages.adapter;

import dev.onlyonce.Registry;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that apply messages, so that the one that consumes goes on. Used by that thread alone.
 *
 * <ol>
 *   <li>Each topic has threads of its own: one whose handlers hang leaves the others theirs.
 *   <li>A handler that takes too long is stopped ({@link HandlerRun}). If that fails, its thread is abandoned, and another takes its place.
 *   <li>A topic with as many abandoned threads as it may have threads at all gets no more until one of them returns.
 * </ol>
 *
 * @param <R> what the broker delivered
 */
final class HandlerThreads<R> {
    /** From the interrupt until the connection is cut, and from there until the thread is abandoned; at most half of what a handler has. */
    private static final Duration GRACE_MAX = Duration.ofSeconds(10);

    private static final Duration IDLE_THREAD = Duration.ofSeconds(30);
    private static final Logger log = LoggerFactory.getLogger(HandlerThreads.class);

    private final Application application;
    private final Registry registry;
    private final Time time;
    private final String group;
    private final Set<Running<R>> running = new HashSet<>();
    /** Abandoned ones, whose threads have not returned. */
    private final Set<Running<R>> stuck = new HashSet<>();

    private final ExecutorService threads;
    private volatile CompletableFuture<Void> progress = new CompletableFuture<>();
    private volatile Map<String, Integer> hung = Map.of();

    HandlerThreads(Application application, Registry registry, String group) {
        this.application = application;
        this.registry = registry;
        this.time = registry.time();
        this.group = group;
        this.threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_THREAD.toNanos(), TimeUnit.NANOSECONDS, new SynchronousQueue<>(), work -> {
                    Thread thread = new Thread(work, "onlyonce-messages-" + group);
                    // One that hangs must not keep the process from ending.
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** A run and its thread. */
    private static final class Running<R> {
        private final String topic;
        private final Application.Group<R> group;
        private final HandlerRun run;
        private boolean wasCut;
        private volatile boolean ended;
        private volatile @Nullable Throwable trouble;

        Running(String topic, Application.Group<R> group, HandlerRun run) {
            this.topic = topic;
            this.group = group;
            this.run = run;
        }
    }

    /** Receives what becomes of messages, on the thread that consumes. */
    interface Ends<R> {
        /** There is an answer. */
        void answered(PendingMessage<R> pending, Applied applied);

        /** There is none: they are to be tried again. */
        void unanswered(List<PendingMessage<R>> messages, @Nullable Throwable trouble);

        /** Its handler was interrupted. */
        void interrupted(PendingMessage<R> pending);
    }

    /** Whether any thread is applying messages. */
    boolean isBusy() {
        return !running.isEmpty();
    }

    /** Starts what may be started; returns the rest. */
    List<Application.Group<R>> start(List<Application.Group<R>> groups) {
        List<Application.Group<R>> rest = new ArrayList<>();
        for (Application.Group<R> each : groups) {
            String topic = each.messages().get(0).message().topic();
            if (mayStart(topic, each.isBatch())) {
                start(topic, each);
            } else {
                rest.add(each);
            }
        }
        return rest;
    }

    private boolean mayStart(String topic, boolean isBatch) {
        long used = running.stream().filter(each -> each.topic.equals(topic)).count();
        long lost = stuck.stream().filter(each -> each.topic.equals(topic)).count();
        boolean hasBatch = running.stream().anyMatch(each -> each.group.isBatch() && each.topic.equals(topic));
        // The batch always gets its thread: those that fail must not keep new messages waiting.
        boolean isFree = isBatch ? !hasBatch : used < application.concurrency();
        return isFree && lost < application.concurrency();
    }

    private void start(String topic, Application.Group<R> messages) {
        HandlerRun run = new HandlerRun(messages.messages(), time, application.handlerMax());
        Running<R> started = new Running<>(topic, messages, run);
        messages.messages().forEach(pending -> pending.setRunning(true));
        running.add(started);
        try {
            threads.execute(() -> apply(started));
        } catch (RuntimeException | Error e) {
            // There is no thread now. Whoever waits for this one would wait forever.
            running.remove(started);
            messages.messages().forEach(pending -> pending.setRunning(false));
            throw e;
        }
    }

    /** A listener that blocks must not hold up messages. */
    private void apply(Running<R> started) {
        try {
            registry.background(() -> application.apply(started.run));
        } catch (RuntimeException | Error e) {
            started.trouble = e;
        } finally {
            started.ended = true;
            progress.complete(null);
        }
    }

    /** Waits until a thread has ended, or for this long. */
    void await(Duration max) {
        try {
            time.await(progress, max);
        } catch (InterruptedException e) {
            log.warn("The thread that consumes for {} was interrupted, and goes on", group, e);
        }
    }

    /** Reports what there is to report, and stops handlers that take too long. */
    void collect(Ends<R> ends) {
        progress = new CompletableFuture<>();
        for (Iterator<Running<R>> each = running.iterator(); each.hasNext(); ) {
            Running<R> one = each.next();
            boolean ended = one.ended;
            report(one, ends);
            if (ended) {
                each.remove();
                unanswered(one, one.trouble, ends);
            } else if (!isInTime(one, ends)) {
                each.remove();
                stuck.add(one);
                unanswered(one, null, ends);
            }
        }
        stuck.removeIf(one -> {
            if (one.ended) {
                log.warn("A handler of {} that was given up has returned: {}", one.topic, one.trouble);
            }
            return one.ended;
        });
        hung = countHung();
    }

    private Map<String, Integer> countHung() {
        Map<String, Integer> found = new TreeMap<>();
        running.stream().filter(one -> one.run.isOverdue()).forEach(one -> found.merge(one.topic, 1, Integer::sum));
        stuck.forEach(one -> found.merge(one.topic, 1, Integer::sum));
        return found.isEmpty() ? Map.of() : found;
    }

    private void report(Running<R> one, Ends<R> ends) {
        Map<PendingMessage<?>, Applied> answers = new HashMap<>(one.run.takeAnswers());
        for (PendingMessage<R> pending : one.group.messages()) {
            Applied applied = answers.get(pending);
            if (applied != null) {
                pending.setRunning(false);
                ends.answered(pending, applied);
            }
        }
    }

    private void unanswered(Running<R> one, @Nullable Throwable trouble, Ends<R> ends) {
        List<PendingMessage<R>> left =
                one.group.messages().stream().filter(PendingMessage::isRunning).toList();
        left.forEach(pending -> pending.setRunning(false));
        if (!left.isEmpty()) {
            ends.unanswered(left, trouble);
        }
    }

    /** Returns false if its thread was given up now. */
    private boolean isInTime(Running<R> one, Ends<R> ends) {
        Duration max = application.handlerMax();
        long grace = Math.min(GRACE_MAX.toNanos(), max.toNanos() / 2);
        long over = one.run.handledNanos() - max.toNanos();
        if (over < 0) {
            one.wasCut = false;
            return true;
        }
        PendingMessage<R> pending = pending(one, one.run.interrupt());
        if (pending != null) {
            log.error(
                    "The handler of {} {} has not returned for {}, and is interrupted",
                    pending.message().topic(),
                    pending.message().coordinates(),
                    max);
            pending.hung();
            ends.interrupted(pending);
        }
        if (over > grace && !one.wasCut) {
            one.wasCut = true;
            one.run.cut();
        }
        return over <= 2 * grace || !isAbandoned(one, ends);
    }

    private boolean isAbandoned(Running<R> one, Ends<R> ends) {
        PendingMessage<R> pending = pending(one, one.run.abandon());
        if (pending == null) {
            return false;
        }
        log.error(
                "The handler of {} {} did not return when it was interrupted. Its thread is given up and runs on, the {}. of them; with {} its"
                        + " topic stands still until the process is restarted",
                pending.message().topic(),
                pending.message().coordinates(),
                stuck.size() + 1,
                application.concurrency());
        report(one, ends);
        if (pending.isRunning()) {
            pending.setRunning(false);
            ends.answered(
                    pending, application.abandoned("its handler did not return within " + application.handlerMax()));
        }
        return true;
    }

    private @Nullable PendingMessage<R> pending(Running<R> one, @Nullable PendingMessage<?> found) {
        return one.group.messages().stream()
                .filter(pending -> pending == found)
                .findFirst()
                .orElse(null);
    }

    /** Threads whose handlers were interrupted and have not returned, by topic. Any thread may ask. */
    Map<String, Integer> hung() {
        return hung;
    }

    /** Starts no more threads. Those that run may end. */
    void close() {
        threads.shutdown();
    }
}
