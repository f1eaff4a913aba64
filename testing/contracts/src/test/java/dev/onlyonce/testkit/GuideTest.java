package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class GuideTest {

    @Test
    @DisplayName("the guide for store authors shows a test that compiles and runs here")
    void showsWhatRuns() throws IOException {
        String guide = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/writing-a-store.md"));
        Matcher code = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(guide);
        assertThat(code.find()).isTrue();
        assertThat(Files.readString(Path.of("src/test/java/dev/onlyonce/testkit/MemoryStoreTest.java")))
                .contains(code.group(1));
        assertThat(Files.readString(Path.of("src/test/java/dev/onlyonce/testkit/SimulationTest.java")))
                .contains("Simulation.on(MemoryStore::new)");
    }
}
