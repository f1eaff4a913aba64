package dev.onlyonce;

import dev.onlyonce.internal.Splitting;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims that this node holds. On every beat:
 *
 * <ol>
 *   <li>Renew the leases that have used up a third of their time, many in one statement. Claims whose row was busy the last
 *       time go in a separate statement, after the others.
 *   <li>Notify the actions whose renewal was refused, or whose lease has lapsed because the store did not answer.
 *   <li>Stop renewing claims that were held longer than their policy allows, and forget them when their lease has lapsed:
 *       nobody is going to settle them.
 * </ol>
 *
 * <p>A beat does nothing else, so a lease waits for the store alone.
 */
final class Claims {
    /** How many heartbeats may run at once: a call can hang for as long as a lease lasts. */
    static final int BEATS_MAX = 3;

    /** More than clocks are adjusted by while they run; less than any usual lease. */
    private static final long SUSPENDED_MILLIS = 1_000;

    private static final Logger log = LoggerFactory.getLogger(Claims.class);

    private final Parts parts;
    private final HotKeys hot;
    private final Map<UUID, LiveClaim> live = new ConcurrentHashMap<>();
    private final AtomicLong wallAheadMillis;
    private final Semaphore beats = new Semaphore(BEATS_MAX);

    private volatile long beatNanos = Terms.LEASE_MAX.toNanos();
    private Time.Scheduled next = () -> {};
    private volatile boolean closed;

    Claims(Parts parts) {
        this.parts = parts;
        this.hot = new HotKeys(parts);
        this.wallAheadMillis =
                new AtomicLong(parts.time().now().toEpochMilli() - TimeUnit.NANOSECONDS.toMillis(parts.nanos()));
    }

    void start(Duration every) {
        beatNanos = every.toNanos();
        beatLater();
    }

    /** The keys of the claims here, and those that are being claimed. */
    HotKeys hot() {
        return hot;
    }

    void add(LiveClaim claim) {
        live.put(claim.token(), claim);
        long needed = beatNanos(claim.policy().terms().lease());
        if (needed < beatNanos) {
            quicken(needed);
        }
    }

    /** A heartbeat is due after a third of the lease. Checking twice as often leaves time for two attempts. */
    static Duration beatFor(Duration lease) {
        return Duration.ofNanos(beatNanos(lease));
    }

    /** In numbers: every claim asks, and {@link Duration} divides by means of BigDecimal. */
    static long beatNanos(Duration lease) {
        return lease.toNanos() / 6;
    }

    /** Speeds up for a policy with a shorter lease than any before. */
    private synchronized void quicken(long needed) {
        if (needed < beatNanos) {
            beatNanos = needed;
            beatLater();
        }
    }

    private synchronized void beatLater() {
        next.cancel();
        if (!closed) {
            next = parts.schedule(Duration.ofNanos(beatNanos), this::beat);
        }
    }

    @Nullable
    LiveClaim get(@Nullable UUID token) {
        return token == null ? null : live.get(token);
    }

    void remove(LiveClaim claim) {
        live.remove(claim.token());
        hot.ended(claim);
        claim.end();
    }

    int size() {
        return live.size();
    }

    void close() {
        closed = true;
    }

    private void beat() {
        // First, so that the next beat runs even if this one hangs on a dead connection.
        beatLater();
        try {
            if (beats.tryAcquire()) {
                try {
                    renew();
                } finally {
                    beats.release();
                }
            }
        } catch (RuntimeException | Error e) {
            log.error("A heartbeat broke; the next one tries again", e);
        } finally {
            endLapsed();
        }
    }

    /**
     * Renews before this node sweeps: after a pause of the process, leases have lapsed whose owner is here and well.
     *
     * @return whether the store has answered for all of them
     */
    boolean renewBeforeSweep() {
        return renew(now -> wasSuspended(now) ? claim -> !claim.isHeldTooLong(now) : claim -> claim.isDue(now));
    }

    /** Whether the clock on the wall went on while ours stood still, as in a virtual machine that was suspended. */
    private boolean wasSuspended(long nowNanos) {
        long ahead = parts.time().now().toEpochMilli() - TimeUnit.NANOSECONDS.toMillis(nowNanos);
        long before = wallAheadMillis.getAndSet(ahead);
        return ahead - before > SUSPENDED_MILLIS;
    }

    private void renew() {
        renew(now -> claim -> claim.isDue(now));
    }

    /** Returns whether the store has answered for all of them. */
    private boolean renew(LongFunction<Predicate<LiveClaim>> which) {
        long now = parts.nanos();
        Predicate<LiveClaim> isWanted = which.apply(now);
        List<LiveClaim> due = new ArrayList<>();
        List<LiveClaim> busy = new ArrayList<>();
        for (LiveClaim claim : live.values()) {
            if (isWanted.test(claim)) {
                (claim.wasBusy() ? busy : due).add(claim);
            }
        }
        return renewAll(due) && renewAll(busy);
    }

    /** Returns whether the store has answered for all of them. */
    private boolean renewAll(List<LiveClaim> claims) {
        boolean answered = true;
        for (int from = 0; from < claims.size(); from += Store.BATCH_MAX) {
            List<LiveClaim> batch = claims.subList(from, Math.min(claims.size(), from + Store.BATCH_MAX));
            // A lease counts from when the store was asked, so never longer than it really runs.
            long asked = parts.nanos();
            try {
                Splitting.send(
                        batch,
                        renewed -> parts.store()
                                .renew(renewed.stream().map(LiveClaim::renewal).toList()),
                        (claim, result) -> answered(claim, result, asked),
                        this::failed);
            } catch (StoreException e) {
                // The next beat tries again; the other batches must not wait for it.
                parts.tell(new Event.StoreFailed(e));
                if (e instanceof StoreUnavailable) {
                    return false;
                }
                answered = false;
            }
        }
        return answered;
    }

    private void answered(LiveClaim claim, RenewResult result, long askedNanos) {
        claim.setBusy(result == RenewResult.BUSY);
        if (result == RenewResult.RENEWED) {
            claim.renewed(askedNanos);
        } else if (result == RenewResult.LOST && live.containsKey(claim.token())) {
            claim.markLost();
        }
    }

    private void failed(LiveClaim claim, Throwable thrown) {
        claim.setBusy(true);
        if (thrown instanceof StoreException failure) {
            parts.tell(new Event.StoreFailed(failure));
        } else {
            log.error("Renewing {} broke", claim.id(), thrown);
        }
    }

    private void endLapsed() {
        long now = parts.nanos();
        for (LiveClaim claim : live.values()) {
            if (claim.isLapsed(now)) {
                claim.markLost();
                if (claim.isHeldTooLong(now)) {
                    remove(claim);
                    parts.tell(new Event.ClaimLost(claim.key(), claim.attempt()));
                    log.warn(
                            "{} of {} was not settled within {}; its lease is no longer renewed",
                            claim.id(),
                            claim.key().operation(),
                            claim.policy().heldMax());
                }
            }
        }
    }
}
