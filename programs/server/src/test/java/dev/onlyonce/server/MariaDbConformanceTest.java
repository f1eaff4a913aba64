package dev.onlyonce.server;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway on MariaDB")
@Tag("thorough")
class MariaDbConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return MariaDbServer.shared().createDatabase();
    }
}
