package dev.onlyonce.http;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows roughly how many entries each active tenant has in the store, without asking for every request.
 *
 * <ol>
 *   <li>A tenant's first new key starts a count in the background; until it is done the tenant passes.
 *   <li>Keys that this node adds afterwards are added to that number at once.
 *   <li>A new key more than {@link #COUNT_EVERY} after the last count starts another one, which sees expired entries and
 *       what other nodes have added.
 * </ol>
 *
 * <p>So the limit can be overshot by what a tenant adds during its first count, and by what other nodes add between two
 * counts. A count reads at most as many index rows as the limit allows entries.
 */
final class StoredKeys {
    static final Duration COUNT_EVERY = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(StoredKeys.class);

    private final int max;
    private final ToIntFunction<String> count;
    private final Time time;
    private final Queue<String> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean counting = new AtomicBoolean();
    private final LoadingCache<String, Tally> tallies =
            Caffeine.newBuilder().maximumSize(TenantLimits.TENANTS_MAX).build(tenant -> new Tally());

    StoredKeys(int max, ToIntFunction<String> count, Time time) {
        this.max = max;
        this.count = count;
        this.time = time;
    }

    /** What is known of one tenant; guarded by itself. */
    private static final class Tally {
        private long counted;
        /** Added by this node since the count. */
        private long added;
        /** Reserved, and not claimed yet. */
        private long reserved;

        private boolean fresh;
        private boolean counting;
        private long countedNanos;
    }

    /** Reserves one; returns false and reserves nothing if the tenant has as many as it may. */
    boolean reserve(String tenant) {
        Tally tally = tallies.get(tenant);
        boolean starts;
        boolean taken;
        synchronized (tally) {
            boolean due = !tally.fresh || time.nanos() - tally.countedNanos >= COUNT_EVERY.toNanos();
            starts = due && !tally.counting;
            tally.counting |= starts;
            taken = tally.counted + tally.added + tally.reserved < max;
            tally.reserved += taken ? 1 : 0;
        }
        if (starts) {
            due.add(tenant);
            start();
        }
        return taken;
    }

    /** One count at a time: a slow store must not take the background threads that heartbeats need. */
    private void start() {
        if (counting.compareAndSet(false, true)) {
            time.schedule(Duration.ZERO, this::countDue);
        }
    }

    private void countDue() {
        try {
            for (String tenant = due.poll(); tenant != null; tenant = due.poll()) {
                count(tenant, tallies.get(tenant));
            }
        } finally {
            counting.set(false);
        }
        if (!due.isEmpty()) {
            start();
        }
    }

    /** A new key was claimed, with or without a reservation. */
    void spend(String tenant, boolean reserved) {
        Tally tally = tallies.get(tenant);
        synchronized (tally) {
            tally.added++;
            tally.reserved -= reserved ? 1 : 0;
        }
    }

    void giveBack(String tenant) {
        Tally tally = tallies.get(tenant);
        synchronized (tally) {
            tally.reserved--;
        }
    }

    private void count(String tenant, Tally tally) {
        long before;
        synchronized (tally) {
            before = tally.added;
        }
        try {
            int counted = count.applyAsInt(tenant);
            synchronized (tally) {
                tally.counted = counted;
                // What was added while counting may be in the number too; the next count corrects that.
                tally.added -= before;
                tally.fresh = true;
            }
        } catch (StoreException e) {
            log.debug("The entries of a tenant cannot be counted now: {}", e.getMessage());
        } finally {
            synchronized (tally) {
                tally.countedNanos = time.nanos();
                tally.counting = false;
            }
        }
    }
}
