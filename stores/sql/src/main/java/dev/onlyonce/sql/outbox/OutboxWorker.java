package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.sql.internal.connections.Transaction;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers in the background: one thread takes rows, {@link Callers} call the handlers, one thread finishes what has come
 * back, many at a time, never waiting for a slow one. Heartbeats keep the leases of all rows in hand.
 */
final class OutboxWorker implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(250);
    /** How long closing waits for rows that are being taken, whatever its own bound: they have to be given back. */
    private static final Duration TAKING_MAX = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(OutboxWorker.class);

    private final OutboxContext context;
    private final RowTaker intake;
    private final RowFinisher finish;
    private final Time time;
    private final InHand inHand;
    private final Callers callers;
    private final LinkedBlockingQueue<TakenRow> done = new LinkedBlockingQueue<>();
    /** What the heartbeat has to report: listeners never run on its thread. */
    private final Queue<Event> reports = new ConcurrentLinkedQueue<>();

    private final Thread taker;
    private final Thread finisher;
    private volatile CompletableFuture<Void> wake = new CompletableFuture<>();
    /** Answers wait to be recorded on rows whose lease is over: this node must not take those from itself. */
    private volatile boolean behind;

    private volatile boolean stopping;
    private volatile boolean stopped;
    private volatile Time.Scheduled beat = () -> {};

    OutboxWorker(OutboxContext context) {
        this.context = context;
        this.intake = new RowTaker(context);
        this.finish = new RowFinisher(context);
        this.time = context.settings().time();
        this.inHand = new InHand(context.settings());
        this.callers = new Callers(context, done::add);
        taker = daemon(() -> background(this::takeAll), "take");
        finisher = daemon(() -> background(this::finishAll), "finish");
    }

    private static Thread daemon(Runnable work, String what) {
        Thread thread = new Thread(work, "onlyonce-outbox-" + what);
        thread.setDaemon(true);
        return thread;
    }

    /** All topics wait for these threads: listeners must not hold them up. */
    private void background(Runnable work) {
        context.settings().registry().background(work);
    }

    void start() {
        taker.start();
        finisher.start();
        beatLater();
    }

    void wake() {
        wake.complete(null);
    }

    /** Takes the rows that are due, delivers and finishes them on the calling thread. Returns their number. */
    static int deliverDue(OutboxContext context, RowTaker intake) {
        Time time = context.settings().time();
        // There are no heartbeats here, and after the calls their answers have to be recorded.
        long until = time.nanos() + context.settings().lease().dividedBy(2).toNanos();
        List<TakenRow> taken = intake.take(new InHand(context.settings()).rooms());
        boolean interrupted = false;
        for (TakenRow held : taken) {
            if (time.nanos() - until < 0) {
                Callers.call(context, held);
            } else if (!held.isAnswered()) {
                held.giveBack();
            }
            // A handler's interrupt is its own: the next call must not fail of it.
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        new RowFinisher(context).finish(taken).ifPresent(unfinished -> {
            throw unfinished.cause();
        });
        return taken.size();
    }

    /** The calls that have not come back within their heldMax, by topic. */
    Map<String, Integer> hung() {
        return callers.hung();
    }

    private void takeAll() {
        boolean more = true;
        while (!stopping) {
            try {
                if (!more || !inHand.isLow()) {
                    time.await(wake, context.settings().pollEvery());
                    wake = new CompletableFuture<>();
                }
                report();
                Map<String, InHand.Room> rooms = inHand.rooms();
                if (rooms.isEmpty() || stopping || behind) {
                    more = false;
                    continue;
                }
                List<TakenRow> taken = new ArrayList<>(intake.take(rooms));
                more = intake.hasMore();
                taken.forEach(inHand::add);
                if (stopping) {
                    giveBack(taken.stream().filter(held -> !held.isAnswered()).toList());
                    taken.removeIf(held -> !held.isAnswered());
                }
                taken.forEach(this::dispatch);
            } catch (InterruptedException e) {
                // Only closing ends this thread; whoever else interrupts it has no right to.
                log.debug("Interrupted while waiting for rows", e);
            } catch (StoreException e) {
                context.publish(new Event.StoreFailed(e));
                log.warn("No rows can be taken now: {}", e.getMessage());
                more = false;
            } catch (Throwable e) {
                log.error("Taking rows failed", e);
                more = false;
            }
        }
    }

    private void dispatch(TakenRow held) {
        if (held.isAnswered()) {
            done.add(held);
        } else {
            callers.add(held);
        }
    }

    private void report() {
        for (Event event = reports.poll(); event != null; event = reports.poll()) {
            context.publish(event);
        }
    }

    private void finishAll() {
        while (!stopped) {
            List<TakenRow> batch = new ArrayList<>();
            try {
                TakenRow first = done.poll(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
                if (first == null) {
                    continue;
                }
                batch.add(first);
                done.drainTo(batch, context.settings().rowsMax() - 1);
                Optional<FinishRound.Unfinished> unfinished = finish.finish(batch);
                if (unfinished.isPresent()) {
                    StoreException e = unfinished.get().cause();
                    List<TakenRow> rows = unfinished.get().rows();
                    batch.removeAll(rows);
                    context.publish(new Event.StoreFailed(e));
                    log.warn("{} rows cannot be finished now: {}", rows.size(), e.getMessage());
                    again(rows);
                } else {
                    behind = false;
                }
                drop(batch);
            } catch (InterruptedException e) {
                // A handler may have interrupted its own thread. Only closing ends this one.
                log.debug("Interrupted while waiting for calls", e);
            } catch (Throwable e) {
                log.error("{} rows could not be finished; they are taken again when their lease ends", batch.size(), e);
                behind = false;
                drop(batch);
            }
        }
    }

    private void drop(List<TakenRow> batch) {
        batch.forEach(inHand::remove);
        if (inHand.isLow()) {
            wake();
        }
    }

    /** What we know is in memory only: keep it until it is recorded, or the database says that the row is lost. */
    private void again(List<TakenRow> batch) {
        try {
            time.await(new CompletableFuture<Void>(), PAUSE);
        } catch (InterruptedException e) {
            log.debug("Interrupted while waiting for the database", e);
        }
        long now = time.nanos();
        behind = batch.stream().anyMatch(held -> !held.isHeld(now) && !isHeldTooLong(held, now));
        done.addAll(batch);
    }

    private boolean isHeldTooLong(TakenRow held, long now) {
        return held.isHeldFor(context.settings().policy(held).heldMax(), now);
    }

    private void beatLater() {
        if (!stopped) {
            beat = time.schedule(context.settings().lease().dividedBy(3), this::beat);
        }
    }

    private void beat() {
        try {
            endLate();
            long now = time.nanos();
            List<TakenRow> rows = new ArrayList<>(inHand.all());
            // A call that never comes back must not keep its key.
            rows.removeIf(held -> isHeldTooLong(held, now));
            if (!rows.isEmpty()) {
                renew(rows);
            }
        } catch (StoreException e) {
            reports.add(new Event.StoreFailed(e));
            log.warn("Leases cannot be renewed now: {}", e.getMessage());
        } catch (Throwable e) {
            log.error("Renewing leases failed", e);
        } finally {
            beatLater();
        }
    }

    /** Calls that hang are interrupted and no longer in hand. Rows that have waited for a thread for as long go to others. */
    private void endLate() {
        long now = time.nanos();
        callers.interruptLate(held -> isHeldTooLong(held, now), reports).forEach(inHand::remove);
        List<TakenRow> waiting = callers.removeWaiting(held -> isHeldTooLong(held, now));
        if (!waiting.isEmpty()) {
            giveBack(waiting);
        }
    }

    private void renew(List<TakenRow> rows) {
        Duration lease = context.settings().lease();
        long begun = time.nanos();
        List<Renewal> entries = rows.stream()
                .filter(h -> h.entryState() == TakenRow.EntryState.CLAIMED)
                .map(h -> new Renewal(
                        h.stored().entry(),
                        h.token(),
                        context.settings().policy(h).terms().lease()))
                .sorted(Comparator.comparing(Renewal::id))
                .toList();
        if (!entries.isEmpty()) {
            context.connections().write(c -> context.database().renew(c, entries));
        }
        rows.sort(Comparator.comparing(h -> h.stored().row().id()));
        List<Boolean> renewed = context.connections()
                .write(c -> Transaction.run(
                        c, context.begin(), t -> context.table().renew(t, rows, StoredEntry.micros(lease))));
        for (int i = 0; i < rows.size(); i++) {
            if (renewed.get(i)) {
                rows.get(i).heldUntil(begun + lease.toNanos());
            }
        }
    }

    /** Takes nothing more, gives back what has not been called, and waits, within a bound, for what has. */
    @Override
    public void close() {
        long until = time.nanos() + context.settings().closeWaitMax().toNanos();
        stopping = true;
        wake();
        try {
            taker.join(Math.max(
                    TAKING_MAX.toMillis(), context.settings().closeWaitMax().toMillis()));
            giveBack(callers.removeWaiting(any -> true));
            while (!inHand.isEmpty() && time.nanos() - until < 0) {
                time.await(new CompletableFuture<Void>(), Duration.ofMillis(5));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!inHand.isEmpty()) {
            log.warn("{} calls have not come back in time; they are unknown when their lease ends", inHand.size());
        }
        stopped = true;
        beat.cancel();
        callers.close();
        finisher.interrupt();
    }

    private void giveBack(List<TakenRow> rows) {
        try {
            finish.release(rows);
        } catch (StoreException e) {
            log.warn("{} rows could not be given back; their lease runs out", rows.size(), e);
        }
        rows.forEach(inHand::remove);
    }
}
