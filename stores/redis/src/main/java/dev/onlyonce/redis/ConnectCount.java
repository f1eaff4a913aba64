package dev.onlyonce.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts connections for entries as they are made. Lettuce makes others, with its own codec, to ask Sentinel or the cluster where masters are. */
final class ConnectCount implements RedisConnectionStateListener {
    private final AtomicInteger connects = new AtomicInteger();

    int get() {
        return connects.get();
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress server) {
        if (connection instanceof StatefulRedisConnection<?, ?> made && made.getCodec() == ByteArrayCodec.INSTANCE) {
            connects.incrementAndGet();
        }
    }
}
