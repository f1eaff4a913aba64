package dev.onlyonce.server;

import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway while PostgreSQL is stopped and started")
class PostgresOutageTest extends GatewayOutage {
    PostgresOutageTest() {
        super(PostgresServer.start());
    }
}
