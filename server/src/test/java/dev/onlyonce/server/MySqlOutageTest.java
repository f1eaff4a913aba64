package dev.onlyonce.server;

import dev.onlyonce.testservers.MySqlServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway while MySQL is stopped and started")
class MySqlOutageTest extends GatewayOutage {
    MySqlOutageTest() {
        super(MySqlServer.start());
    }
}
