package dev.onlyonce.spring.aot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.aot.AbstractAotProcessor;

@DisplayName("An application that is processed ahead of time")
class AotTest {
    private static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    @TempDir
    Path folder;

    private static List<Path> files(Path folder, String end) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(end)).toList();
        }
    }

    private List<String> settings() {
        return List.of(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN",
                "--onlyonce.anonymous-tenant=everybody",
                "--spring.datasource.url=jdbc:h2:file:" + folder.resolve("entries"));
    }

    @Test
    @DisplayName("R1 compiles, starts from the generated code, and replays")
    void runs() throws Exception {
        Path sources = Files.createDirectory(folder.resolve("sources"));
        Path classes = Files.createDirectory(folder.resolve("classes"));
        AbstractAotProcessor.Settings where = AbstractAotProcessor.Settings.builder()
                .sourceOutput(sources)
                .resourceOutput(classes)
                .classOutput(classes)
                .groupId("shop")
                .artifactId("shop")
                .build();
        new SpringApplicationAotProcessor(AotApp.class, where, settings().toArray(String[]::new)).process();

        assertThat(files(classes, ".json")).isNotEmpty();
        StringBuilder hints = new StringBuilder();
        for (Path file : files(classes, ".json")) {
            hints.append(Files.readString(file).replace("\\/", "/"));
        }
        // Without a word of the thousands of lines.
        assertThat(List.of("AotApp$Order", "AotApp$Booked", "schema/*/*.sql", "META-INF/onlyonce/console/*"))
                .allSatisfy(name -> assertThat(hints.indexOf(name)).isPositive());

        List<String> javac = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", classes.toString()));
        javac.addAll(List.of("-cp", CLASS_PATH + File.pathSeparator + classes));
        files(sources, ".java").forEach(file -> javac.add(file.toString()));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, javac.toArray(String[]::new)))
                .isZero();

        List<String> java = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dspring.aot.enabled=true",
                "-cp",
                classes + File.pathSeparator + CLASS_PATH,
                AotApp.class.getName()));
        java.addAll(settings());
        Path output = folder.resolve("output");
        Process app = new ProcessBuilder(java)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(app.waitFor(5, TimeUnit.MINUTES)).isTrue();
        } finally {
            app.destroyForcibly();
        }
        assertThat(Files.readString(output, StandardCharsets.UTF_8))
                .contains(AotApp.GENERATED + "true")
                .contains("/payments 200 {\"order\":\"a\",\"run\":1}\n/payments 200 {\"order\":\"a\",\"run\":1}\n"
                        + "/bookings 200 {\"order\":\"a\",\"run\":1}\n/bookings 200 {\"order\":\"a\",\"run\":1}");
    }
}
