package dev.onlyonce.server;

import dev.onlyonce.testservers.MySqlServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Through MariaDB's driver, which is the gateway's for both. */
@DisplayName("A gateway on MySQL")
@Tag("thorough")
class MySqlConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return MySqlServer.shared().createDatabase();
    }
}
