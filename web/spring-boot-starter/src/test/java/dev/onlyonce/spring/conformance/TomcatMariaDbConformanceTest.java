package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("The starter on Tomcat and MariaDB")
@Tag("thorough")
class TomcatMariaDbConformanceTest extends StarterConformance {
    @Override
    RunningApp launch() {
        return RunningApp.start(
                "tomcat", "--spring.datasource.url=" + MariaDbServer.shared().createDatabase());
    }

    @Override
    String server() {
        return "Tomcat";
    }
}
