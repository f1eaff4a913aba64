package dev.onlyonce.server;

import dev.onlyonce.testkit.http.OutageConformance;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.RedisServer;
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
    private final String database;
    private final Server server;
    private Running gateway;

    /** What happens to it. */
    private record Server(Runnable stop, Runnable start, Runnable close) {}

    GatewayOutage(DatabaseServer server) {
        this.database = server.createDatabase();
        this.server = new Server(server::stop, server::restart, server::close);
    }

    GatewayOutage(RedisServer server) {
        this.database = server.url();
        this.server = new Server(server::kill, server::restart, server::close);
    }

    @BeforeAll
    void start(@TempDir Path folder) {
        gateway = Running.start(folder, upstream.url(), ConformanceConfig.yaml(database));
    }

    @AfterAll
    void stop() {
        upstream.close();
        gateway.close();
        server.close.run();
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
        server.stop.run();
    }

    @Override
    protected void startStore() {
        server.start.run();
    }
}
