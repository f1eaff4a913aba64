package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.MySqlServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Through MySQL's own driver, which Spring Boot picks for its URLs. */
@DisplayName("The starter on Tomcat and MySQL")
@Tag("thorough")
class TomcatMySqlConformanceTest extends StarterConformance {
    @Override
    RunningApp launch() {
        return RunningApp.start(
                "tomcat", "--spring.datasource.url=" + MySqlServer.shared().createDatabase());
    }

    @Override
    String server() {
        return "Tomcat";
    }
}
