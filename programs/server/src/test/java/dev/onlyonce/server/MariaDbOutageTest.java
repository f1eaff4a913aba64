package dev.onlyonce.server;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway while MariaDB is stopped and started")
@Tag("thorough")
class MariaDbOutageTest extends GatewayOutage {
    MariaDbOutageTest() {
        super(MariaDbServer.start());
    }
}
