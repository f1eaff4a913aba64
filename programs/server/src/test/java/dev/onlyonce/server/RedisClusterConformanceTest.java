package dev.onlyonce.server;

import dev.onlyonce.testservers.RedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway on Redis Cluster")
@Tag("thorough")
class RedisClusterConformanceTest extends GatewayConformance {
    private final RedisCluster cluster = RedisCluster.start();

    @Override
    String database() {
        return cluster.url();
    }

    @AfterAll
    void stopCluster() {
        cluster.close();
    }
}
