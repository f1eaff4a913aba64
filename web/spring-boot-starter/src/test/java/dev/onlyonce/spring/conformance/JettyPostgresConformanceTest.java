package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("The starter on Jetty and Postgres")
@Tag("thorough")
class JettyPostgresConformanceTest extends StarterConformance {
    @Override
    RunningApp launch() {
        DatabaseServer server = PostgresServer.shared();
        return RunningApp.start("jetty", "--spring.datasource.url=" + server.createDatabase());
    }

    @Override
    String server() {
        return "Jetty";
    }
}
