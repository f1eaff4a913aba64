package dev.onlyonce;

import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Background work: sweeps lapsed leases and purges expired entries, on every node at once. */
final class Maintenance {
    /** Small enough that foreground traffic never waits long for its locks. */
    static final int SWEEP_BATCH = 500;
    /** Smaller, with a pause after each: foreground traffic must not lose a processor for longer than its own calls take. */
    static final int PURGE_BATCH = 100;

    /** How many sweeps in a row wait for settlements and heartbeats that the store does not answer. */
    static final int SWEEPS_PUT_OFF_MAX = 10;

    /** One small write; operators see a new node after this time at the latest. */
    static final Duration ANNOUNCE_EVERY = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(Maintenance.class);

    private final Parts parts;
    private final Claims claims;
    private final LateSettlements late;
    private final Duration auditRetention;
    private final AtomicInteger putOff = new AtomicInteger();
    private final long startNanos;
    private volatile boolean closed;

    Maintenance(Parts parts, Claims claims, LateSettlements late, Duration auditRetention) {
        this.parts = parts;
        this.claims = claims;
        this.late = late;
        this.auditRetention = auditRetention;
        this.startNanos = parts.nanos();
    }

    void close() {
        closed = true;
    }

    /** Repeats the work with a pause in between, even if it fails. */
    void repeat(Duration every, Runnable work) {
        repeat(every, work, false);
    }

    /** Logs the beginning and the end of an outage, not every round of it. */
    private void repeat(Duration every, Runnable work, boolean failing) {
        parts.schedule(every, () -> {
            boolean failed = false;
            try {
                work.run();
                if (failing) {
                    log.info("Background work goes on");
                }
            } catch (StoreException e) {
                failed = true;
                parts.tell(new Event.StoreFailed(e));
                log.atLevel(failing ? Level.DEBUG : Level.WARN)
                        .log("Background work failed and is tried every {}: {}", every, e.getMessage());
            } catch (RuntimeException | Error e) {
                failed = true;
                log.atLevel(failing ? Level.DEBUG : Level.ERROR)
                        .setCause(e)
                        .log("Background work broke and is tried every {}", every);
            } finally {
                if (!closed) {
                    repeat(every, work, failed);
                }
            }
        });
    }

    int sweep() {
        // Nothing is swept, and no late settlement recorded, in a store that would forget it or is not the one it was.
        parts.store().recheck();
        // First record what this node knows and holds: a sweep makes it unknown.
        boolean sent = late.sendBeforeSweep();
        boolean answered = claims.renewBeforeSweep() && sent;
        if (putOff.updateAndGet(times -> answered || times == SWEEPS_PUT_OFF_MAX ? 0 : times + 1) > 0) {
            return 0;
        }
        int total = 0;
        List<Transition> swept;
        do {
            swept = parts.store().sweep(SWEEP_BATCH);
            for (Transition transition : swept) {
                parts.tell(new Event.Changed(transition));
                if (transition.from() == State.PROCESSING) {
                    parts.tell(new Event.LeaseLapsed(transition));
                }
                log.info("{}: {} is now {}", transition.why(), transition.id(), transition.to());
            }
            total += swept.size();
        } while (swept.size() == SWEEP_BATCH && !closed);
        return total;
    }

    /** Lets operators see this node. Nothing depends on it, so that it failed is only worth mentioning to those who look for it. */
    void announce() {
        String version = Maintenance.class.getPackage().getImplementationVersion();
        try {
            parts.store()
                    .origin()
                    .announce(
                            parts.name(),
                            version == null ? "development" : version,
                            Duration.ofNanos(parts.nanos() - startNanos));
        } catch (StoreException e) {
            log.debug("This node could not be announced: {}", e.getMessage());
        }
    }

    int purge() {
        int total = 0;
        int purged;
        long tookNanos;
        do {
            long begun = parts.nanos();
            purged = parts.store().purge(PURGE_BATCH);
            total += purged;
            tookNanos = parts.nanos() - begun;
        } while (purged == PURGE_BATCH && pause(tookNanos));
        if (total > 0) {
            parts.tell(new Event.Purged(total));
            log.debug("Purged {} expired entries", total);
        }
        purgeAudit();
        return total;
    }

    /**
     * Pauses for as long as the last batch took, so that foreground traffic has the database to itself half of the time.
     * Returns whether to continue: not after the node was closed.
     */
    private boolean pause(long nanos) {
        try {
            if (nanos > 0 && !closed) {
                parts.time().await(new CompletableFuture<Void>(), Duration.ofNanos(nanos));
            }
            return !closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void purgeAudit() {
        int purged;
        do {
            purged = parts.store().purgeAudit(auditRetention, PURGE_BATCH);
        } while (purged == PURGE_BATCH && !closed);
    }
}
