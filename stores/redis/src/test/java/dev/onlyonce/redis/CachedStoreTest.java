package dev.onlyonce.redis;

import dev.onlyonce.testservers.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
@DisplayName("A store behind a shared cache")
final class CachedStoreTest extends CachedContract {
    private static RedisServer server;

    @BeforeAll
    static void connect() {
        server = RedisServer.start("appendonly no");
    }

    @AfterAll
    static void disconnect() {
        server.close();
    }

    CachedStoreTest() {
        server.command("FLUSHALL");
    }

    @Override
    String url() {
        return server.url();
    }

    @Override
    void interfere() {}
}
