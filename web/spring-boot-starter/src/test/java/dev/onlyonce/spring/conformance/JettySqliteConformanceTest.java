package dev.onlyonce.spring.conformance;

import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The starter on Jetty and SQLite, through a DataSource")
@Tag("thorough")
class JettySqliteConformanceTest extends StarterConformance {
    @TempDir
    static Path folder;

    @Override
    RunningApp launch() {
        return RunningApp.start(
                "jetty",
                "--spring.datasource.url=jdbc:sqlite:" + folder.resolve("entries.db")
                        + "?journal_mode=WAL&synchronous=FULL&busy_timeout=5000");
    }

    @Override
    String server() {
        return "Jetty";
    }
}
