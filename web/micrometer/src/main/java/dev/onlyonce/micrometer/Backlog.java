package dev.onlyonce.micrometer;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.CacheCounts;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gauges of what waits for somebody: unknown entries, calls in the outbox, the oldest of each, and dead letters; and the counters
 * of the shared cache. The store is asked every few seconds in the background, not when metrics are read. All nodes see the same store and show the same numbers.
 */
public final class Backlog implements AutoCloseable {
    /** How many are counted at most: past that, nobody needs the exact number. */
    public static final int COUNT_MAX = EntryQuery.LIMIT_MAX;

    private static final Duration COUNT_EVERY = Duration.ofSeconds(5);
    private static final Logger log = LoggerFactory.getLogger(Backlog.class);

    private final Onlyonce once;
    private final Supplier<OutboxCounts> countOutbox;
    private volatile int unknown;
    private volatile double oldestSeconds;
    private volatile OutboxCounts outbox = OutboxCounts.NONE;
    private volatile boolean closed;

    private Backlog(Onlyonce once, Supplier<OutboxCounts> countOutbox) {
        this.once = once;
        this.countOutbox = countOutbox;
    }

    /**
     * Starts to watch.
     *
     * @param outbox counts in the store, up to {@link #COUNT_MAX}; {@link OutboxCounts#NONE} where there is no outbox
     */
    public static Backlog watch(Meters meters, Onlyonce once, Supplier<OutboxCounts> outbox) {
        Backlog backlog = new Backlog(once, outbox);
        meters.gauge(Metric.RECONCILE_BACKLOG, Tags.empty(), () -> backlog.unknown);
        meters.gauge(Metric.RECONCILE_OLDEST, Tags.empty(), () -> backlog.oldestSeconds);
        meters.gauge(Metric.OUTBOX_WAITING, Tags.empty(), () -> backlog.outbox.waiting());
        meters.gauge(
                Metric.OUTBOX_OLDEST,
                Tags.empty(),
                () -> backlog.outbox.oldest().toMillis() / 1000.0);
        meters.gauge(Metric.OUTBOX_DEAD_LETTERS, Tags.empty(), () -> backlog.outbox.dead());
        meters.gauge(
                Metric.STORE_REFUSED,
                Tags.empty(),
                () -> once.registry().store().refusal().isPresent() ? 1 : 0);
        meters.readCounter(Metric.CACHE_REPLAYED, once, cache(CacheCounts::replayed));
        meters.readCounter(Metric.CACHE_SHED, once, cache(CacheCounts::shed));
        meters.readCounter(Metric.CACHE_MISSED, once, cache(CacheCounts::missed));
        meters.readCounter(Metric.CACHE_FAILED, once, cache(CacheCounts::failed));
        meters.readCounter(Metric.CACHE_REFUSED, once, cache(CacheCounts::refused));
        once.registry().time().schedule(Duration.ZERO, backlog::count);
        return backlog;
    }

    private static ToDoubleFunction<Onlyonce> cache(ToLongFunction<CacheCounts> count) {
        return node -> node.registry().cache().map(count::applyAsLong).orElse(0L);
    }

    private void count() {
        try {
            List<Entry> entries = once.operator().list(EntryQuery.all(COUNT_MAX).in(State.UNKNOWN));
            unknown = entries.size();
            oldestSeconds = entries.stream().mapToDouble(Backlog::age).max().orElse(0);
            outbox = countOutbox.get();
        } catch (StoreException e) {
            log.debug("The backlog cannot be counted now: {}", e.getMessage());
        } finally {
            if (!closed) {
                once.registry().time().schedule(COUNT_EVERY, this::count);
            }
        }
    }

    /** By the store's clock. */
    private static double age(Entry entry) {
        Instant since = entry.settledAt() == null ? entry.createdAt() : entry.settledAt();
        return seconds(since, entry.readAt());
    }

    private static double seconds(Instant since, Instant now) {
        return Math.max(0, Duration.between(since, now).toMillis() / 1000.0);
    }

    /** Stops asking the store. */
    @Override
    public void close() {
        closed = true;
    }
}
