package dev.onlyonce.spring.conformance;

import dev.onlyonce.testkit.http.OutageConformance;
import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.TcpProxy;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;

@DisplayName("The starter while PostgreSQL is away")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresOutageTest extends OutageConformance {
    private TcpProxy proxy;
    private RunningApp app;

    @BeforeAll
    void start() {
        String url = PostgresServer.shared().createDatabase();
        proxy = TcpProxy.to(url);
        app = RunningApp.start(
                "tomcat",
                "--spring.datasource.url=" + proxy.through(url),
                "--spring.datasource.hikari.connection-timeout=1000",
                "--onlyonce.store.wait-max=2s");
    }

    @AfterAll
    void stop() {
        app.close();
        proxy.close();
    }

    @Override
    protected URI base() {
        return app.base();
    }

    @Override
    protected String authorization(String tenant) {
        return RunningApp.authorization(tenant);
    }

    @Override
    protected void stopStore() {
        proxy.down();
    }

    @Override
    protected void startStore() {
        proxy.heal();
    }
}
