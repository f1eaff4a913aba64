package dev.onlyonce.redis;

import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

/** Before every call, somebody moves the values between the keys, and changes, cuts or replaces some. */
@DisplayName("A store behind a shared cache that lies")
final class LyingCacheTest extends CachedContract {
    private static RedisServer server;
    private static RedisClient client;
    private static StatefulRedisConnection<byte[], byte[]> connection;

    private final Random random = new Random(14);

    @BeforeAll
    static void connect() {
        server = RedisServer.start("appendonly no");
        client = RedisClient.create(server.url());
        connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    @AfterAll
    static void disconnect() {
        client.shutdown();
        server.close();
    }

    LyingCacheTest() {
        connection.sync().flushall();
    }

    @Override
    String url() {
        return server.url();
    }

    @Override
    void interfere() {
        RedisCommands<byte[], byte[]> redis = connection.sync();
        List<byte[]> keys = redis.keys("*");
        if (keys.isEmpty()) {
            return;
        }
        List<KeyValue<byte[], byte[]>> values = redis.mget(keys.toArray(byte[][]::new));
        IdentityHashMap<byte[], byte[]> lies = new IdentityHashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            byte[] other = values.get((i + 1) % keys.size()).getValueOrElse(new byte[0]);
            lies.put(keys.get(i), lie(other, keys.size() == 1 ? 1 + random.nextInt(3) : random.nextInt(4)));
        }
        redis.mset(lies);
    }

    private byte[] lie(byte[] value, int kind) {
        byte[] lie = kind == 1 ? Arrays.copyOf(value, value.length / 2) : value.clone();
        if (kind == 2 && lie.length > 0) {
            lie[random.nextInt(lie.length)] ^= 1;
        }
        return kind == 3 ? Partitions.bytes("not sealed at all") : lie;
    }
}
