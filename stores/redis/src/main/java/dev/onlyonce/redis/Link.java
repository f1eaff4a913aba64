package dev.onlyonce.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/** The connections to one server, to the master that Sentinel names, or to the masters of a cluster. */
interface Link extends AutoCloseable {
    /**
     * Sends commands, those for one server in one go as far as possible. Each ends on its own: with its answer, or with the reason why
     * it has none. Throws nothing.
     */
    <T> void send(List<? extends RedisCommand<byte[], byte[], T>> commands);

    /** Whether a script's keys must be in one slot. */
    boolean isCluster();

    /** A connection to each master that can be reached now. */
    List<StatefulRedisConnection<byte[], byte[]>> masters();

    /** The connection to the master that has this key now, the one that carries its commands. */
    StatefulRedisConnection<byte[], byte[]> master(byte[] key);

    /** Changes with every new connection, and when the masters of a cluster do: another server may be at the other end. */
    int generation();

    /** Some command had no answer in time: connects again to servers that have left one waiting for this long. */
    void giveUpSilent(Duration silence);

    /** The server is a replica now: connects again, which finds the master if Sentinel or a host name knows it. */
    void findMaster();

    /**
     * How many replicas may take over from a master, where somebody knows: with Sentinel, and in a cluster.
     *
     * @param isGoneCounted whether those count that are gone, because they may come back
     */
    OptionalInt promotable(boolean isGoneCounted);

    @Override
    void close();
}
