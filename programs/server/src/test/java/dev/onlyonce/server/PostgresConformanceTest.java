package dev.onlyonce.server;

import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@DisplayName("A gateway on PostgreSQL")
@Order(1)
class PostgresConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return PostgresServer.shared().createDatabase();
    }
}
