package dev.onlyonce.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;

/** The connections to one server, to the master that Sentinel names, or to the masters of a cluster. */
interface Link extends AutoCloseable {
    /** Takes commands for any key; those that are handed over together travel as one pipeline to each master. */
    StatefulConnection<byte[], byte[]> connection();

    /** A connection to each master that can be reached now. */
    List<StatefulRedisConnection<byte[], byte[]>> masters();

    /** The connection to the master that has this key now, the one that carries its commands. */
    StatefulRedisConnection<byte[], byte[]> master(byte[] key);

    /** How often a connection was made. When this changes, another server may be at the other end. */
    int connects();

    @Override
    void close();
}
