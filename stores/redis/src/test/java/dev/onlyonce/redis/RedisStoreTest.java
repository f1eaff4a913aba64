package dev.onlyonce.redis;

import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import dev.onlyonce.testservers.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Redis")
final class RedisStoreTest extends StoreContract {
    private static RedisServer server;
    private static RedisClock clock;

    private int opened;

    @BeforeAll
    static void connect() {
        server = RedisServer.start();
        clock = new RedisClock(server.url());
    }

    @AfterAll
    static void disconnect() {
        clock.close();
        server.close();
    }

    RedisStoreTest() {
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
