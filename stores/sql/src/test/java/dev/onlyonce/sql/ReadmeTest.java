package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.sql.guide.PageProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The README")
class ReadmeTest {
    private static final Path README = Path.of(System.getProperty("onlyonce.root"), "README.md");

    @TempDir
    Path dir;

    @Test
    @DisplayName("shows a program that compiles as pasted, pays once, replays, and refuses another amount")
    void programRuns() throws Exception {
        List<String> lines = PageProgram.firstOn("README.md").run(dir);
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).matches("201 Receipt\\[id=charged with [\\w-]{32}, cents=990]");
        assertThat(lines.get(1)).isEqualTo(lines.get(0) + " (replayed)");
        assertThat(lines.get(2)).isEqualTo("422 the key was used for another request");
    }

    @Test
    @DisplayName("is short")
    void isShort() throws IOException {
        assertThat(Files.readAllLines(README)).hasSizeLessThanOrEqualTo(150);
    }
}
