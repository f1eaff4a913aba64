package dev.onlyonce.server;

import dev.onlyonce.testservers.MySqlServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway while MySQL is stopped and started")
@Tag("thorough")
class MySqlOutageTest extends GatewayOutage {
    MySqlOutageTest() {
        super(MySqlServer.start());
    }
}
