package dev.onlyonce.internal;

import dev.onlyonce.Event;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The claims that this node holds. On every beat:
 *
 * <ol>
 *   <li>settlements that the store did not take when they were made are tried again, for as long as their lease holds;
 *   <li>leases of which a third has gone are renewed, many in one statement;
 *   <li>actions whose renewal was refused, or whose lease has lapsed for want of an answer, are told that they lost it.
 * </ol>
 */
final class Claims {
    private final Store store;
    private final Time time;
    private final Events events;
    private final Map<UUID, LiveClaim> live = new ConcurrentHashMap<>();
    /** In the order of their tokens, which is that of their claims, so that a simulation goes the same way every time. */
    private final Map<UUID, Unsettled> unsettled = new ConcurrentSkipListMap<>();

    private volatile Duration beat;
    private Time.Scheduled next = () -> {};
    private volatile boolean closed;

    /**
     * A settlement that the store has not taken yet.
     *
     * @param claim what it ends; none for a claim that was never confirmed, and may yet arrive at the store
     * @param untilNanos when to give up on a claim that was never confirmed
     * @param done what follows when it was taken or refused
     */
    record Unsettled(Settlement settlement, @Nullable LiveClaim claim, long untilNanos, Consumer<SettleResult> done) {}

    Claims(Store store, Time time, Duration beat, Events events) {
        this.store = store;
        this.time = time;
        this.beat = beat;
        this.events = events;
    }

    void start() {
        beatLater();
    }

    void add(LiveClaim claim) {
        live.put(claim.token(), claim);
        Duration needed = beatFor(claim.policy().terms().lease());
        if (needed.compareTo(beat) < 0) {
            quicken(needed);
        }
    }

    /** A third of the lease has gone when a heartbeat is due; looking twice as often leaves time for two tries. */
    static Duration beatFor(Duration lease) {
        return lease.dividedBy(6);
    }

    /** A policy with a shorter lease than any before has come. */
    private synchronized void quicken(Duration needed) {
        if (needed.compareTo(beat) < 0) {
            beat = needed;
            beatLater();
        }
    }

    private synchronized void beatLater() {
        next.cancel();
        if (!closed) {
            next = time.schedule(beat, this::beat);
        }
    }

    @Nullable
    LiveClaim get(@Nullable UUID token) {
        return token == null ? null : live.get(token);
    }

    void remove(LiveClaim claim) {
        live.remove(claim.token());
        claim.end();
    }

    int size() {
        return live.size();
    }

    /** Goes on trying in the background. */
    void settleLater(Unsettled late) {
        unsettled.put(late.settlement().token(), late);
    }

    void close() {
        closed = true;
    }

    private void beat() {
        try {
            unsettled.values().forEach(this::settleLate);
            renew();
        } catch (StoreException e) {
            events.tell(new Event.StoreFailed(e));
        } finally {
            tellLapsed();
            beatLater();
        }
    }

    private void settleLate(Unsettled late) {
        long now = time.nanos();
        LiveClaim claim = late.claim();
        if (claim == null ? now - late.untilNanos() >= 0 : claim.isLapsed(now)) {
            // The sweeper has it, or soon will: the entry ends as its terms say.
            forget(late);
            return;
        }
        try {
            SettleResult result = store.settle(List.of(late.settlement())).get(0);
            boolean arrivesYet = claim == null && result instanceof SettleResult.Lost;
            if (!arrivesYet) {
                forget(late);
                late.done().accept(result);
            }
        } catch (StoreException e) {
            // The next beat tries again; renewing the others must not wait for this one.
            events.tell(new Event.StoreFailed(e));
        }
    }

    private void forget(Unsettled late) {
        unsettled.remove(late.settlement().token());
        if (late.claim() != null) {
            remove(late.claim());
        }
    }

    private void renew() {
        long now = time.nanos();
        List<LiveClaim> due = new ArrayList<>();
        for (LiveClaim claim : live.values()) {
            if (claim.isDue(now)) {
                due.add(claim);
            }
        }
        for (int from = 0; from < due.size(); from += Store.BATCH_MAX) {
            renew(due.subList(from, Math.min(due.size(), from + Store.BATCH_MAX)));
        }
    }

    private void renew(List<LiveClaim> claims) {
        long asked = time.nanos();
        List<Renewal> renewals = claims.stream().map(LiveClaim::renewal).toList();
        List<RenewResult> renewed = store.renew(renewals);
        for (int i = 0; i < claims.size(); i++) {
            LiveClaim claim = claims.get(i);
            if (renewed.get(i) == RenewResult.RENEWED) {
                claim.renewed(asked);
            } else if (renewed.get(i) == RenewResult.LOST && live.containsKey(claim.token())) {
                claim.markLost();
            }
        }
    }

    private void tellLapsed() {
        long now = time.nanos();
        for (LiveClaim claim : live.values()) {
            if (claim.isLapsed(now)) {
                claim.markLost();
            }
        }
    }
}
