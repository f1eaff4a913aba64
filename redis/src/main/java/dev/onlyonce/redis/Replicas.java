package dev.onlyonce.redis;

import dev.onlyonce.store.StoreOutcomeUnknown;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Waits until replicas have what was written.
 *
 * @param count how many; 0 for not waiting
 * @param max how long
 */
record Replicas(int count, Duration max) {
    private static final String MARK = "written";

    Replicas {
        if (count < 0 || max.isNegative() || max.isZero()) {
            throw new IllegalArgumentException("replicas must not be negative, and their time-out must be positive");
        }
    }

    /**
     * Waits for the masters of these partitions.
     *
     * @throws StoreOutcomeUnknown if too few replicas have answered: the masters have it, and a failover may lose it
     */
    void await(Link link, Partitions partitions, Collection<Integer> written) {
        if (count == 0) {
            return;
        }
        try {
            Map<StatefulRedisConnection<byte[], byte[]>, byte[]> masters = new LinkedHashMap<>();
            for (int partition : written) {
                byte[] mark = partitions.key(partition, MARK);
                masters.putIfAbsent(link.master(mark), mark);
            }
            for (var master : masters.entrySet()) {
                // From 7.2 on, WAIT is for the last write of this connection, and a repeated call may have written
                // nothing.
                var unused = master.getKey().sync().set(master.getValue(), new byte[0]);
                long acknowledged = master.getKey().sync().waitForReplication(count, max.toMillis());
                if (acknowledged < count) {
                    throw new StoreOutcomeUnknown(
                            "Only " + acknowledged + " of " + count + " replicas have it after " + max.toMillis()
                                    + " ms",
                            null);
                }
            }
        } catch (RedisException e) {
            throw new StoreOutcomeUnknown("Whether replicas have it is not known: " + e.getMessage(), e);
        }
    }
}
