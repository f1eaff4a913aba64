package dev.onlyonce.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import java.util.List;

/** One server, or the master that Sentinel names. */
final class SingleLink implements Link {
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final ConnectCount connects = new ConnectCount();

    SingleLink(ClientResources resources, RedisURI uri) {
        client = RedisClient.create(resources, uri);
        try {
            client.setOptions(LinkOpening.options());
            client.addListener(connects);
            connection = client.connect(ByteArrayCodec.INSTANCE);
        } catch (RuntimeException e) {
            client.shutdown();
            throw e;
        }
    }

    @Override
    public StatefulRedisConnection<byte[], byte[]> connection() {
        return connection;
    }

    @Override
    public List<StatefulRedisConnection<byte[], byte[]>> masters() {
        return List.of(connection);
    }

    @Override
    public StatefulRedisConnection<byte[], byte[]> master(byte[] key) {
        return connection;
    }

    @Override
    public int connects() {
        return connects.get();
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
