package dev.onlyonce.spring.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testkit.http.HttpConformance;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The starter under the conformance suite. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
abstract class StarterConformance extends HttpConformance {
    private RunningApp app;

    abstract RunningApp launch();

    /** Tomcat or Jetty. */
    abstract String server();

    @Test
    @DisplayName("The application runs in the server it is meant to")
    void rightServer() {
        assertThat(app.server()).startsWith(server());
    }

    @BeforeAll
    void startApp() {
        app = launch();
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
