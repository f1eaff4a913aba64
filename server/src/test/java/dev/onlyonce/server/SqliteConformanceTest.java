package dev.onlyonce.server;

import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway on SQLite")
class SqliteConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return "";
    }
}
