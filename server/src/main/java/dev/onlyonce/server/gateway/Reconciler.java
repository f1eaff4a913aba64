package dev.onlyonce.server.gateway;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.State;
import dev.onlyonce.server.admin.LocalOperator;
import dev.onlyonce.server.admin.Operator;
import dev.onlyonce.server.config.LookUp;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what became of unknown entries by look-ups. On every gateway at once: a finding counts for one attempt of one entry
 * and is recorded at most once, whoever comes first.
 */
final class Reconciler implements LocalOperator.Reconciling, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Reconciler.class);
    private static final String WHO = "reconciler";
    /** How often to look for entries whose turn it is. */
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
    /** Bounds a round: so many entries are asked about before others get their turn. */
    private static final int ROUND_MAX = 200;
    /** Bounds what is remembered about entries. */
    private static final int REMEMBERED_MAX = 100_000;

    private final Onlyonce once;
    private final Time time;
    private final LookUps lookUps;
    private final Metrics metrics;
    private final Map<Asked, History> histories = new HashMap<>();
    private final AtomicInteger backlog = new AtomicInteger();
    private volatile boolean closed;

    private record Asked(EntryId id, int attempt) {}

    private record History(long nextNanos, int absent) {}

    Reconciler(Onlyonce once, Time time, LookUps lookUps, Metrics metrics) {
        this.once = once;
        this.time = time;
        this.lookUps = lookUps;
        this.metrics = metrics;
    }

    void start() {
        metrics.gauge("reconcile.backlog", "Entries whose outcome is unknown, at most 1000", backlog::get);
        time.schedule(LOOK_EVERY, this::tick);
    }

    private void tick() {
        try {
            round(false);
        } catch (StoreException e) {
            log.debug("Unknown entries cannot be listed now: {}", e.getMessage());
        } catch (RuntimeException e) {
            log.error("Reconciling failed and is tried again", e);
        } finally {
            if (!closed) {
                time.schedule(LOOK_EVERY, this::tick);
            }
        }
    }

    @Override
    public List<String> operations() {
        return lookUps.operations();
    }

    @Override
    public Operator.ReconcileRun run() {
        return round(true);
    }

    private synchronized Operator.ReconcileRun round(boolean now) {
        List<Entry> unknown = once.list(EntryQuery.all(EntryQuery.LIMIT_MAX).in(State.UNKNOWN));
        backlog.set(unknown.size());
        if (histories.size() > REMEMBERED_MAX) {
            histories.clear();
        }
        int asked = 0;
        int found = 0;
        int absent = 0;
        for (Entry entry : unknown) {
            LookUp lookUp = lookUps.of(entry.operation());
            if (lookUp == null || asked == ROUND_MAX || closed || !(now || isDue(lookUp, entry))) {
                continue;
            }
            asked++;
            State became = ask(lookUp, entry);
            found += became == State.COMPLETED ? 1 : 0;
            absent += became == State.RETRYABLE ? 1 : 0;
        }
        return new Operator.ReconcileRun(asked, found, absent, asked - found - absent);
    }

    private boolean isDue(LookUp lookUp, Entry entry) {
        Instant since = entry.settledAt() == null ? entry.createdAt() : entry.settledAt();
        if (Duration.between(since, entry.readAt()).compareTo(lookUp.pace().after()) < 0) {
            return false;
        }
        History history = histories.get(new Asked(entry.id(), entry.attempt()));
        return history == null || time.nanos() - history.nextNanos() >= 0;
    }

    private @Nullable State ask(LookUp lookUp, Entry entry) {
        Asked asked = new Asked(entry.id(), entry.attempt());
        LookUps.Answer answer = lookUps.ask(lookUp, entry);
        if (answer instanceof LookUps.Answer.Found found) {
            histories.remove(asked);
            return resolve(
                    entry,
                    State.COMPLETED,
                    Resolution.found(entry.id(), entry.attempt(), found.response(), WHO, "the look-up found it"));
        }
        History before = histories.getOrDefault(asked, new History(0, 0));
        boolean absent = answer instanceof LookUps.Answer.Absent;
        int absentTimes = absent ? before.absent() + 1 : 0;
        if (absentTimes >= lookUp.pace().absentTimes()) {
            histories.remove(asked);
            String why = "the look-up found nothing, " + absentTimes + " times";
            return resolve(entry, State.RETRYABLE, Resolution.absent(entry.id(), entry.attempt(), WHO, why));
        }
        if (answer instanceof LookUps.Answer.Undecided undecided) {
            metrics.reconcileFailed();
            log.debug("{} stays unknown: {}", entry.id(), undecided.why());
        }
        histories.put(asked, new History(time.nanos() + lookUp.pace().every().toNanos(), absentTimes));
        return null;
    }

    private @Nullable State resolve(Entry entry, State to, Resolution resolution) {
        if (once.resolve(resolution) instanceof SettleResult.Settled) {
            log.info("{} attempt {} is now {}: {}", entry.id(), entry.attempt(), to, resolution.reason());
            return to;
        }
        return null;
    }

    @Override
    public void close() {
        closed = true;
    }
}
