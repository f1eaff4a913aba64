package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@DisplayName("The starter on Tomcat and Postgres")
@Order(1)
class TomcatPostgresConformanceTest extends StarterConformance {
    @Override
    RunningApp launch() {
        DatabaseServer server = PostgresServer.shared();
        return RunningApp.start("tomcat", "--spring.datasource.url=" + server.createDatabase());
    }

    @Override
    String server() {
        return "Tomcat";
    }
}
