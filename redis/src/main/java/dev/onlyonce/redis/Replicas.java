package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Waits until replicas have what was written.
 *
 * <ol>
 *   <li>After the writes, each master is asked to wait for its replicas; all masters at once.
 *   <li>What too few replicas have in time is in doubt: the master has it, and a failover may lose it.
 *   <li>From then on that master is sent nothing, so that it costs the others no time, until it has its replicas again. Each call
 *       that would need it has it asked, without waiting for the answer.
 * </ol>
 */
final class Replicas {
    private static final String MARK = "written";
    /** What part of a call's time replicas get: whoever else uses the connection has to wait for them too. */
    private static final int PARTS = 4;

    private static final int PROBE_MILLIS = 1;

    private final Link link;
    private final Partitions partitions;
    private final int count;
    private final Duration timeout;
    /** Masters that had too few replicas, and whether one is being asked. */
    private final Map<StatefulRedisConnection<byte[], byte[]>, AtomicBoolean> lacking = new ConcurrentHashMap<>();

    /**
     * @param count how many; 0 for not waiting
     * @param timeout of a call
     */
    Replicas(Link link, Partitions partitions, int count, Duration timeout) {
        this.link = link;
        this.partitions = partitions;
        this.count = count;
        this.timeout = timeout;
    }

    /** Why nothing can be written to some of these partitions now. */
    Map<Integer, StoreException> refused(Collection<Integer> wanted) {
        Map<Integer, StoreException> refused = new HashMap<>();
        if (!lacking.isEmpty()) {
            masters(wanted, new HashMap<>()).forEach((master, its) -> {
                AtomicBoolean isAsked = lacking.get(master);
                if (isAsked != null) {
                    probe(master, isAsked);
                    StoreException failure = new StoreUnavailable("Redis has fewer than " + count + " replicas", null);
                    its.forEach(partition -> refused.put(partition, failure));
                }
            });
        }
        return refused;
    }

    private void probe(StatefulRedisConnection<byte[], byte[]> master, AtomicBoolean isAsked) {
        if (isAsked.compareAndSet(false, true)) {
            var unused = master.async().waitForReplication(count, PROBE_MILLIS).whenComplete((replicas, failure) -> {
                isAsked.set(false);
                if (failure == null && replicas >= count) {
                    lacking.remove(master);
                }
            });
        }
    }

    /**
     * Waits for the masters of these partitions.
     *
     * @param connects how often the link had connected before the first write
     * @return {@link StoreOutcomeUnknown} for each partition that too few replicas may have
     */
    Map<Integer, StoreException> await(Collection<Integer> written, int connects) {
        Map<Integer, StoreException> missing = new HashMap<>();
        if (count == 0) {
            return missing;
        }
        List<Wait> waits = new ArrayList<>();
        masters(written, missing)
                .forEach((master, its) -> waits.add(wait(master, its, partitions.key(its.get(0), MARK))));
        for (Wait wait : waits) {
            try {
                check(wait);
                // Another server may have answered than the one that had the writes.
                if (link.connects() != connects) {
                    throw new StoreOutcomeUnknown("Redis was connected again before replicas answered", null);
                }
            } catch (StoreOutcomeUnknown e) {
                wait.partitions.forEach(partition -> missing.put(partition, e));
            }
        }
        return missing;
    }

    private Map<StatefulRedisConnection<byte[], byte[]>, List<Integer>> masters(
            Collection<Integer> wanted, Map<Integer, StoreException> failures) {
        Map<StatefulRedisConnection<byte[], byte[]>, List<Integer>> masters = new LinkedHashMap<>();
        for (int partition : wanted) {
            try {
                masters.computeIfAbsent(link.master(partitions.key(partition, MARK)), master -> new ArrayList<>())
                        .add(partition);
            } catch (RedisException e) {
                failures.put(partition, unknown(e));
            }
        }
        return masters;
    }

    private record Wait(
            StatefulRedisConnection<byte[], byte[]> master,
            List<Integer> partitions,
            RedisFuture<String> marked,
            RedisFuture<Long> acknowledged) {}

    /**
     * From 7.2 on, WAIT is for the last write of this connection, and a repeated call may have written nothing. The key is gone at
     * once: a master that moves its slot elsewhere then refuses it, as it must.
     */
    private Wait wait(StatefulRedisConnection<byte[], byte[]> master, List<Integer> partitions, byte[] mark) {
        return new Wait(
                master,
                partitions,
                master.async().set(mark, new byte[0], SetArgs.Builder.px(1)),
                master.async().waitForReplication(count, millis()));
    }

    private void check(Wait wait) {
        try {
            var unused = wait.marked.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            long acknowledged = wait.acknowledged.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (acknowledged < count) {
                lacking.putIfAbsent(wait.master, new AtomicBoolean());
                throw new StoreOutcomeUnknown(
                        "Only " + acknowledged + " of " + count + " replicas have it after " + millis() + " ms", null);
            }
        } catch (ExecutionException e) {
            throw unknown(e.getCause() == null ? e : e.getCause());
        } catch (TimeoutException e) {
            throw unknown(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unknown(e);
        }
    }

    private long millis() {
        return Math.max(1, timeout.toMillis() / PARTS);
    }

    private static StoreOutcomeUnknown unknown(Throwable cause) {
        return new StoreOutcomeUnknown("Whether replicas have it is not known: " + cause.getMessage(), cause);
    }
}
