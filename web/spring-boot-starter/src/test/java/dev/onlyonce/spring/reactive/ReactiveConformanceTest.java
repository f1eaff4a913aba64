package dev.onlyonce.spring.reactive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testkit.http.HttpConformance;
import dev.onlyonce.testservers.PostgresServer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@DisplayName("The starter on WebFlux, Reactor Netty and PostgreSQL")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class ReactiveConformanceTest extends HttpConformance {
    private ReactiveApp app;

    @BeforeAll
    void startApp() {
        app = ReactiveApp.start(
                ReactiveConformanceApp.class,
                "--spring.datasource.url=" + PostgresServer.shared().createDatabase(),
                "--onlyonce.coverage=required",
                "--onlyonce.operations.[POST /accepted/gate].when-running=accepted",
                "--onlyonce.operations.[POST /waiting/gate].wait-max=1m",
                "--onlyonce.operations.[POST /tombstone/echo].tombstone=1h",
                "--onlyonce.operations.[POST /stripe-tombstone/echo].tombstone=1h",
                "--onlyonce.operations.[POST /strict-tombstone/echo].tombstone=1h",
                "--onlyonce.operations.[POST /stripe-unknown/status/{code}].on-server-error=unknown",
                "--onlyonce.operations.[POST /uuid/echo].key-format=uuid",
                "--onlyonce.operations.[POST /personal/echo].refuse-personal-keys=true",
                "--onlyonce.operations.[POST /timestamp/echo].request-age.header=X-Made",
                "--onlyonce.operations.[POST /timestamp/echo].request-age.max=1h");
    }

    @AfterAll
    void stopApp() {
        app.close();
    }

    @Test
    @DisplayName("The application runs in Reactor Netty")
    void rightServer() {
        assertThat(app.server()).startsWith("Netty");
    }

    @Override
    protected URI base() {
        return app.base();
    }

    @Override
    protected String authorization(String tenant) {
        byte[] credentials = (tenant + ":secret").getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(credentials);
    }
}
