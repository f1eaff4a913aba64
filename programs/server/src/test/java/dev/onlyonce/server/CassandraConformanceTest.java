package dev.onlyonce.server;

import dev.onlyonce.testservers.CassandraCluster;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway on Cassandra")
@Tag("thorough")
class CassandraConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return CassandraCluster.shared().url("conformance");
    }
}
