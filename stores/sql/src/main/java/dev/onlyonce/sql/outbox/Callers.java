package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.NotExecuted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads that call the handlers.
 *
 * <ol>
 *   <li>Rows wait in a line for each topic. A thread takes the next one from the topic that has the fewest calls under way, within the
 *       topics' {@link Shares}: calls of one topic that hang leave the others their threads.
 *   <li>A call that has not come back within its policy's {@code heldMax} is interrupted and reported. Its lease is not renewed any more.
 *   <li>If it ignores that, its thread does not count any more, so that another one takes its place. No more than a topic's part of the
 *       threads is replaced like this; after that the topic goes on with fewer, and in the end not at all.
 *   <li>A late call may still answer. That it did nothing is not believed: the interrupt may have come between the effect and the answer.
 * </ol>
 */
final class Callers {
    private static final long IDLE_SECONDS = 30;
    private static final Logger log = LoggerFactory.getLogger(Callers.class);

    private final OutboxContext context;
    private final Consumer<TakenRow> ended;
    private final ThreadPoolExecutor threads;
    private final int replacedMax;
    private final Shares busy;
    private final Map<String, Deque<TakenRow>> waiting = new HashMap<>();
    private final Map<String, Integer> replaced = new HashMap<>();
    private final Set<Call> calls = new LinkedHashSet<>();

    /**
     * @param ended takes rows whose call has come back
     */
    Callers(OutboxContext context, Consumer<TakenRow> ended) {
        this.context = context;
        this.ended = ended;
        OutboxSettings settings = context.settings();
        Set<String> topics = settings.handlers().keySet();
        this.busy = new Shares(topics, settings.concurrency(), 1);
        this.replacedMax = Math.max(1, settings.concurrency() / Math.max(1, topics.size()));
        topics.forEach(topic -> waiting.put(topic, new ArrayDeque<>()));
        this.threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), Callers::thread);
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "onlyonce-outbox-call");
        thread.setDaemon(true);
        return thread;
    }

    /** A call that is under way. */
    private static final class Call {
        private final TakenRow held;
        private final Thread thread = Thread.currentThread();
        private boolean late;
        private boolean replaced;

        Call(TakenRow held) {
            this.held = held;
        }
    }

    /** Calls the handler, unless there is an answer, or it is too late to call. */
    static void call(OutboxContext context, TakenRow held) {
        if (held.isAnswered()) {
            return;
        }
        long now = context.settings().time().nanos();
        if (held.mayCall(now)) {
            held.calling(now);
            Delivery delivery = deliver(context.settings().handler(held), held.row());
            held.called(delivery, context.settings().time().nanos());
        } else {
            held.giveBack();
        }
    }

    private static Delivery deliver(DeliveryHandler handler, OutboxRow row) {
        try {
            Delivery delivery = handler.deliver(row);
            return delivery == null ? new Delivery.Ambiguous("the handler answered nothing") : delivery;
        } catch (NotExecuted e) {
            return new Delivery.NotExecuted(String.valueOf(e.getMessage()));
        } catch (Throwable e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            } else if (e instanceof Error) {
                log.error("A handler failed: {}", row, e);
            }
            return new Delivery.Ambiguous(e.toString());
        }
    }

    /** Makes the call as soon as there is a thread. */
    synchronized void add(TakenRow held) {
        lineOf(held.topic()).add(held);
        start();
    }

    private Deque<TakenRow> lineOf(String topic) {
        return waiting.computeIfAbsent(topic, any -> new ArrayDeque<>());
    }

    /** Starts threads for what waits. */
    synchronized void start() {
        for (TakenRow next = next(); next != null; next = next()) {
            TakenRow held = next;
            try {
                threads.execute(() -> run(held));
            } catch (Throwable e) {
                // No more threads now: the heartbeat tries again.
                busy.use(held.topic(), -1);
                lineOf(held.topic()).addFirst(held);
                log.error("No thread for a call", e);
                return;
            }
        }
    }

    /** The row to be called next, counted as busy. */
    private @Nullable TakenRow next() {
        Optional<String> topic = waiting.entrySet().stream()
                .filter(line -> !line.getValue().isEmpty())
                .map(Map.Entry::getKey)
                .filter(name -> busy.room(name) > 0)
                .min(Comparator.comparing(busy::used));
        topic.ifPresent(name -> busy.use(name, 1));
        return topic.map(name -> lineOf(name).poll()).orElse(null);
    }

    private void run(TakenRow first) {
        for (TakenRow held = first; held != null; ) {
            held = call(held);
        }
    }

    /** Returns the row that this thread calls next. */
    private @Nullable TakenRow call(TakenRow held) {
        Call call = new Call(held);
        synchronized (this) {
            calls.add(call);
        }
        try {
            call(context, held);
        } catch (Throwable e) {
            log.error("A call broke: {}", held.row(), e);
            held.called(
                    new Delivery.Ambiguous(e.toString()),
                    context.settings().time().nanos());
        }
        synchronized (this) {
            calls.remove(call);
            // A handler's interrupt, or ours, is not the next call's.
            Thread.interrupted();
            if (call.late && held.delivery() instanceof Delivery.NotExecuted not) {
                held.delivery(new Delivery.Ambiguous("it was interrupted after heldMax: " + not.why()));
            }
        }
        ended.accept(held);
        synchronized (this) {
            if (call.replaced) {
                replaced.merge(held.topic(), -1, Integer::sum);
                return null;
            }
            busy.use(held.topic(), -1);
            return next();
        }
    }

    /**
     * Interrupts the calls that are late. Returns those that were not late before.
     *
     * @param reports what is to be published of it
     */
    synchronized List<TakenRow> interruptLate(Predicate<TakenRow> isLate, Queue<Event> reports) {
        List<TakenRow> late = new ArrayList<>();
        for (Call call : calls) {
            if (isLate.test(call.held)) {
                if (!call.late) {
                    call.late = true;
                    late.add(call.held);
                    report(call.held, reports);
                }
                call.thread.interrupt();
                replace(call);
            }
        }
        start();
        return late;
    }

    private static void report(TakenRow held, Queue<Event> reports) {
        log.error(
                "A call has not come back within heldMax. Its thread is interrupted, and its outcome is in doubt. Give the handler of topic"
                        + " {} a time-out: {}",
                held.topic(),
                held.row());
        reports.add(new Event.Delivery(
                held.stored().entry(), held.stored().row().key().operation(), Event.Delivery.Fate.HUNG));
    }

    private void replace(Call call) {
        String topic = call.held.topic();
        if (!call.replaced && replaced.getOrDefault(topic, 0) < replacedMax) {
            call.replaced = true;
            replaced.merge(topic, 1, Integer::sum);
            busy.use(topic, -1);
        }
    }

    /** How many late calls of each topic still run. */
    synchronized Map<String, Integer> hung() {
        Map<String, Integer> hung = new TreeMap<>();
        calls.stream().filter(call -> call.late).forEach(call -> hung.merge(call.held.topic(), 1, Integer::sum));
        return hung;
    }

    /** Removes the rows that wait for a thread and returns them. */
    synchronized List<TakenRow> removeWaiting(Predicate<TakenRow> which) {
        List<TakenRow> removed = new ArrayList<>();
        for (Deque<TakenRow> line : waiting.values()) {
            line.stream().filter(which).forEach(removed::add);
            line.removeIf(which);
        }
        return removed;
    }

    /** Interrupts what runs. */
    void close() {
        threads.shutdownNow();
    }
}
