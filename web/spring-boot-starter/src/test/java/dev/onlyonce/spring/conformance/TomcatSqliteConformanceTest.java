package dev.onlyonce.spring.conformance;

import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The starter on Tomcat and SQLite, without a DataSource")
@Tag("thorough")
class TomcatSqliteConformanceTest extends StarterConformance {
    @TempDir
    static Path folder;

    @Override
    RunningApp launch() {
        return RunningApp.start(
                "tomcat",
                "--spring.autoconfigure.exclude[1]=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "--onlyonce.store.sqlite=" + folder.resolve("entries.db"));
    }

    @Override
    String server() {
        return "Tomcat";
    }
}
