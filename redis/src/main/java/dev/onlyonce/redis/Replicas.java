package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits until replicas have what was written.
 *
 * @param count how many; 0 for not waiting
 * @param timeout of a call. Replicas get a part of it: whoever else uses the connection has to wait for them too
 */
record Replicas(int count, Duration timeout) {
    private static final String MARK = "written";
    private static final int PARTS = 4;

    Replicas {
        if (count < 0 || timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("replicas must not be negative, and the time-out must be positive");
        }
    }

    /**
     * Waits for the masters of these partitions, all at once.
     *
     * @param connects how often the link had connected before the first write
     * @return {@link StoreOutcomeUnknown} for each partition that too few replicas may have: its master has it, and a failover may lose it
     */
    Map<Integer, StoreException> await(Link link, Partitions partitions, List<Integer> written, int connects) {
        Map<Integer, StoreException> missing = new HashMap<>();
        Map<StatefulRedisConnection<byte[], byte[]>, List<Integer>> masters = new LinkedHashMap<>();
        for (int partition : written) {
            try {
                masters.computeIfAbsent(link.master(partitions.key(partition, MARK)), master -> new ArrayList<>())
                        .add(partition);
            } catch (RedisException e) {
                missing.put(partition, unknown(e));
            }
        }
        Map<List<Integer>, Wait> waits = new LinkedHashMap<>();
        masters.forEach((master, its) -> waits.put(its, wait(master, partitions.key(its.get(0), MARK))));
        waits.forEach((its, wait) -> {
            try {
                wait.check(this);
                // Another server may have answered than the one that had the writes.
                if (link.connects() != connects) {
                    throw new StoreOutcomeUnknown("Redis was connected again before replicas answered", null);
                }
            } catch (StoreOutcomeUnknown e) {
                its.forEach(partition -> missing.put(partition, e));
            }
        });
        return missing;
    }

    private record Wait(RedisFuture<String> marked, RedisFuture<Long> acknowledged) {
        void check(Replicas replicas) {
            try {
                var unused = marked.get(replicas.timeout.toNanos(), TimeUnit.NANOSECONDS);
                long count = acknowledged.get(replicas.timeout.toNanos(), TimeUnit.NANOSECONDS);
                if (count < replicas.count) {
                    throw new StoreOutcomeUnknown(
                            "Only " + count + " of " + replicas.count + " replicas have it after " + replicas.millis()
                                    + " ms",
                            null);
                }
            } catch (ExecutionException e) {
                throw unknown(e.getCause());
            } catch (TimeoutException e) {
                throw unknown(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw unknown(e);
            }
        }
    }

    /**
     * From 7.2 on, WAIT is for the last write of this connection, and a repeated call may have written nothing. The key is gone at
     * once: a master that moves its slot elsewhere then refuses it, as it must.
     */
    private Wait wait(StatefulRedisConnection<byte[], byte[]> master, byte[] mark) {
        return new Wait(
                master.async().set(mark, new byte[0], SetArgs.Builder.px(1)),
                master.async().waitForReplication(count, millis()));
    }

    private long millis() {
        return Math.max(1, timeout.toMillis() / PARTS);
    }

    private static StoreOutcomeUnknown unknown(Throwable cause) {
        return new StoreOutcomeUnknown("Whether replicas have it is not known: " + cause.getMessage(), cause);
    }
}
