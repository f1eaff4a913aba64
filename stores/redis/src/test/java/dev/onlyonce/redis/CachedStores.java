package dev.onlyonce.redis;

import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Nodes with a shared cache, and somebody who can read and write everything in it. */
final class CachedStores implements AutoCloseable {
    static final String SECRET = "a secret that only the nodes of this test know";

    final RedisServer server = RedisServer.start("appendonly no");
    private final ClientResources resources = CacheConnection.resources();
    private final RedisClient client = RedisClient.create(server.url());
    private final StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
    private final List<CachedStore> nodes = new ArrayList<>();

    static CacheOptions options(String url) {
        return new CacheOptions(url, "test", null, SECRET);
    }

    CachedStore node(Store store, Time time) {
        return node(CachedStore.builder(store, options(server.url())).timeout(Duration.ofSeconds(10)), time);
    }

    CachedStore node(CachedStore.Builder builder, Time time) {
        CachedStore node = builder.resources(resources).time(time).build();
        nodes.add(node);
        return node;
    }

    /** For the hostile hand. */
    RedisCommands<byte[], byte[]> redis() {
        return connection.sync();
    }

    /** What Redis has under a name. */
    record Value(byte[] name, byte[] bytes) {}

    /** Everything in Redis. */
    List<Value> values() {
        List<Value> values = new ArrayList<>();
        for (byte[] key : redis().keys("*")) {
            byte[] value = redis().get(key);
            if (value != null) {
                values.add(new Value(key, value));
            }
        }
        return values;
    }

    /** Puts everything back that was there, for good. */
    void putBack(List<Value> values) {
        values.forEach(value -> redis().set(value.name(), value.bytes()));
    }

    /** The state that a claim has found; null if it was granted. */
    static @Nullable State state(ClaimResult result) {
        return result instanceof ClaimResult.Existing existing
                ? existing.entry().state()
                : null;
    }

    @Override
    public void close() {
        nodes.forEach(CachedStore::close);
        client.shutdown();
        var unused = resources.shutdown();
        server.close();
    }
}
