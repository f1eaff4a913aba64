package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.problem;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("docs/guides/client.md")
class GuideTest {
    private static final Pattern JAVA = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern NAME = Pattern.compile("class (\\w+)");

    @TempDir
    private Path folder;

    @Test
    @DisplayName("shows programs that compile without a warning, and one that pays once")
    void programs() throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> arguments =
                new ArrayList<>(List.of("-Xlint:all", "-Werror", "-cp", classPath, "-d", folder.toString()));
        List<String> names = compile(arguments);
        assertThat(names).containsExactly("PayOrder", "DecideToPay");
        try (ScriptedServer server = new ScriptedServer()) {
            server.then(problem(409, "in_progress", "Retry-After", "0")).then(status(201, "{\"id\":7}"));
            for (int run = 0; run < 2; run++) {
                Process process = new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                folder + File.pathSeparator + classPath,
                                "PayOrder",
                                folder.resolve("journal").toString(),
                                server.url("/payments").toString())
                        .redirectErrorStream(true)
                        .start();
                String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor()).isZero();
                assertThat(out).endsWith("paid: {\"id\":7}\n");
            }
            assertThat(server.received()).hasSize(2);
            assertThat(server.received().get(0).headers()).containsEntry("authorization", "Bearer test_alice");
        }
    }

    private List<String> compile(List<String> arguments) throws IOException {
        List<String> names = new ArrayList<>();
        Matcher block =
                JAVA.matcher(Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/client.md")));
        while (block.find()) {
            Matcher name = NAME.matcher(block.group(1));
            assertThat(name.find()).isTrue();
            if (name.group(1).startsWith("With")) {
                // Compiled by the module that has these libraries.
                continue;
            }
            names.add(name.group(1));
            arguments.add(Files.writeString(folder.resolve(name.group(1) + ".java"), block.group(1))
                    .toString());
        }
        int compiled = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(compiled).isZero();
        return names;
    }
}
