package dev.onlyonce.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;

/** One server, or the master that Sentinel names. */
final class SingleLink implements Link {
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final ConnectCount connects = new ConnectCount();
    private final Channels channels = new Channels();

    SingleLink(ClientResources resources, RedisURI uri, SslOptions tls) {
        client = RedisClient.create(channels.watched(resources), uri);
        try {
            client.setOptions(LinkOpening.options(tls));
            client.addListener(connects);
            connection = client.connect(ByteArrayCodec.INSTANCE);
        } catch (RuntimeException e) {
            client.shutdown();
            throw e;
        }
    }

    @Override
    public <T> void send(List<? extends RedisCommand<byte[], byte[], T>> commands) {
        try {
            connection.dispatch(commands);
        } catch (RedisException e) {
            commands.forEach(command -> command.completeExceptionally(e));
        }
    }

    @Override
    public boolean isCluster() {
        return false;
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
    public int generation() {
        return connects.get();
    }

    @Override
    public void giveUpSilent(Duration silence) {
        channels.closeSilent(silence);
    }

    @Override
    public void findMaster() {
        channels.closeAll();
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
