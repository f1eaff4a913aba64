package dev.onlyonce.server;

import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway on PostgreSQL")
class PostgresConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return PostgresServer.shared().createDatabase();
    }
}
