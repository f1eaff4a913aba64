package dev.onlyonce.server;

import dev.onlyonce.testservers.CassandraCluster;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway on Cassandra")
class CassandraConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return CassandraCluster.shared().url("conformance");
    }
}
