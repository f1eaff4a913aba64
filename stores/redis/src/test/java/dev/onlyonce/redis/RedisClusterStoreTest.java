package dev.onlyonce.redis;

import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import dev.onlyonce.testservers.RedisCluster;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
@DisplayName("Redis Cluster")
final class RedisClusterStoreTest extends StoreContract {
    private static RedisCluster server;
    private static RedisClock clock;

    private int opened;

    @BeforeAll
    static void connect() {
        server = RedisCluster.start();
        clock = new RedisClock(server.url());
    }

    @AfterAll
    static void disconnect() {
        clock.close();
        server.close();
    }

    RedisClusterStoreTest() {
        clock.start();
    }

    @Override
    protected Store open() {
        return clock.node(opened++);
    }

    @Override
    protected void advance(Duration span) {
        clock.advance(span);
    }
}
