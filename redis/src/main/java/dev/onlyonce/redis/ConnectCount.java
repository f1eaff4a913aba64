package dev.onlyonce.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts connections as they are made. */
final class ConnectCount implements RedisConnectionStateListener {
    private final AtomicInteger connects = new AtomicInteger();

    int get() {
        return connects.get();
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress server) {
        connects.incrementAndGet();
    }
}
