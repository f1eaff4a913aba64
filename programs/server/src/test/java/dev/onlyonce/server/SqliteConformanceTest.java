package dev.onlyonce.server;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway on SQLite")
@Tag("thorough")
class SqliteConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return "";
    }
}
