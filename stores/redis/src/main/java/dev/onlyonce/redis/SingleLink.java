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
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** One server, or the master that Sentinel names. */
final class SingleLink implements Link {
    private final @Nullable Sentinels sentinels;
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;
    private final ConnectCount connects = new ConnectCount();
    private final Channels channels = new Channels();

    SingleLink(ClientResources resources, RedisURI uri, SslOptions tls) {
        Sentinels following =
                uri.getSentinels().isEmpty() ? null : new Sentinels(resources, uri, tls, channels::closeAll);
        sentinels = following;
        client = following == null
                ? RedisClient.create(channels.watched(resources), uri)
                : RedisClient.create(channels.watched(resources, following::master), following.master());
        try {
            client.setOptions(LinkOpening.options(tls));
            client.addListener(connects);
            connection = client.connect(ByteArrayCodec.INSTANCE);
        } catch (RuntimeException e) {
            shutdown();
            throw e;
        }
    }

    @Override
    public <T> void send(List<? extends RedisCommand<byte[], byte[], T>> commands) {
        try {
            if (sentinels != null && sentinels.isHandingOver()) {
                throw new RedisException(Reply.NOT_SENT + ": Sentinel is replacing the master");
            }
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
        if (sentinels != null) {
            sentinels.ask();
        }
        channels.closeAll();
    }

    @Override
    public OptionalInt promotable(boolean isGoneCounted) {
        return sentinels == null ? OptionalInt.empty() : sentinels.promotable(isGoneCounted);
    }

    @Override
    public void close() {
        connection.close();
        shutdown();
    }

    private void shutdown() {
        if (sentinels != null) {
            sentinels.close();
        }
        client.shutdown();
    }
}
