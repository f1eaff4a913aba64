package dev.onlyonce.spring.conformance;

import dev.onlyonce.testkit.http.OutageConformance;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The starter while its store is away. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StarterOutage extends OutageConformance {
    private RunningApp app;

    /** The URL of a new database. */
    abstract String database();

    @BeforeAll
    void startApp() {
        app = RunningApp.start(
                "tomcat",
                "--spring.datasource.url=" + database(),
                "--spring.datasource.hikari.connection-timeout=1000",
                "--onlyonce.store.wait-max=2s");
    }

    @AfterAll
    void stopApp() {
        app.close();
    }

    @Override
    protected URI base() {
        return app.base();
    }

    @Override
    protected String authorization(String tenant) {
        return RunningApp.authorization(tenant);
    }
}
