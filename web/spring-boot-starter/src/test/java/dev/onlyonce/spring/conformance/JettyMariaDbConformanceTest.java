package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("The starter on Jetty and MariaDb")
@Tag("thorough")
class JettyMariaDbConformanceTest extends StarterConformance {
    @Override
    RunningApp launch() {
        DatabaseServer server = MariaDbServer.shared();
        return RunningApp.start("jetty", "--spring.datasource.url=" + server.createDatabase());
    }

    @Override
    String server() {
        return "Jetty";
    }
}
