package dev.onlyonce.server;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway while MariaDB is stopped and started")
class MariaDbOutageTest extends GatewayOutage {
    MariaDbOutageTest() {
        super(MariaDbServer.start());
    }
}
