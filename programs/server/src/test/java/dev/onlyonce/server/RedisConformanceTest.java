package dev.onlyonce.server;

import dev.onlyonce.testservers.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@DisplayName("A gateway on Redis")
@Order(1)
class RedisConformanceTest extends GatewayConformance {
    private final RedisServer server = RedisServer.start();

    @Override
    String database() {
        return server.url();
    }

    @AfterAll
    void stopServer() {
        server.close();
    }
}
