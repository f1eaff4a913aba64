package dev.onlyonce.server;

import dev.onlyonce.testservers.RedisServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway while Redis is killed and started")
class RedisOutageTest extends GatewayOutage {
    RedisOutageTest() {
        super(RedisServer.start());
    }
}
