package dev.onlyonce.server;

import dev.onlyonce.testkit.http.OutageConformance;
import dev.onlyonce.testservers.DatabaseServer;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A gateway whose database is stopped and started. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GatewayOutage extends OutageConformance {
    private final ConformanceUpstream upstream = new ConformanceUpstream();
    private final DatabaseServer server;
    private Running gateway;

    GatewayOutage(DatabaseServer server) {
        this.server = server;
    }

    @BeforeAll
    void start(@TempDir Path folder) {
        gateway = Running.start(folder, upstream.url(), ConformanceConfig.yaml(server.createDatabase()));
    }

    @AfterAll
    void stop() {
        upstream.close();
        gateway.close();
        server.close();
    }

    @Override
    protected URI base() {
        return gateway.url("");
    }

    @Override
    protected String authorization(String tenant) {
        return ConformanceConfig.authorization(tenant);
    }

    @Override
    protected void stopStore() {
        server.stop();
    }

    @Override
    protected void startStore() {
        server.restart();
    }
}
