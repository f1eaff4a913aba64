package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The README")
class ReadmeTest {
    private static final Path README = Path.of("..", "README.md");
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(.*?public class (\\w+).*?)```", Pattern.DOTALL);

    @TempDir
    Path dir;

    @Test
    @DisplayName("shows a program that compiles as pasted, pays once, replays, and refuses another amount")
    void programRuns() throws Exception {
        Matcher program = PROGRAM.matcher(Files.readString(README));
        assertThat(program.find()).isTrue();
        Path source = Files.writeString(dir.resolve(program.group(2) + ".java"), program.group(1));
        String classPath = System.getProperty("java.class.path");
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", classPath, "-d", dir.toString(), source.toString());
        assertThat(compiled).isZero();

        List<String> lines = run(program.group(2), dir + File.pathSeparator + classPath);
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

    private List<String> run(String main, String classPath) throws IOException, InterruptedException {
        Path out = dir.resolve("out.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        main,
                        dir.resolve("entries.db").toString())
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return Files.readAllLines(out, StandardCharsets.UTF_8);
    }
}
