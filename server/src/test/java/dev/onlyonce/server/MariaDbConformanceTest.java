package dev.onlyonce.server;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway on MariaDB")
class MariaDbConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return MariaDbServer.shared().createDatabase();
    }
}
