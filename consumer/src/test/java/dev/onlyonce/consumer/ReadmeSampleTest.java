package dev.onlyonce.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("In an empty directory")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class ReadmeSampleTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(package shop;.*?)```", Pattern.DOTALL);

    @TempDir
    static Path folder;

    private static Installed installed;

    @BeforeAll
    static void install() throws Exception {
        installed = new Installed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/guides/spring-boot.md"})
    @DisplayName("R1 the sample works as pasted, with the pom that the page links and the installed artifacts")
    void works(String page) throws Exception {
        String text = Files.readString(Installed.ROOT.resolve(page));
        assertThat(text).contains("examples/shop/pom.xml", "`./onlyonce install`");
        Matcher program = PROGRAM.matcher(text);
        assertThat(program.find()).isTrue();
        Path project = Files.createTempDirectory(folder, "empty");
        Files.copy(Installed.ROOT.resolve("docs/examples/shop/pom.xml"), project.resolve("pom.xml"));
        Path source = Files.createDirectories(project.resolve("src/main/java/shop"));
        Files.writeString(source.resolve("Shop.java"), program.group(1));

        installed.maven(project, "-q", "package");

        try (Application shop =
                new Application(project.resolve("target/shop.jar"), project, "--onlyonce.anonymous-tenant=everybody")) {
            HttpResponse<String> first = shop.post(null, "/orders", "8e03978e-40d5", "");
            HttpResponse<String> second = shop.post(null, "/orders", "8e03978e-40d5", "");
            assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
            assertThat(second.body()).isEqualTo(first.body()).startsWith("order ");
            assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
            assertThat(project.resolve("onlyonce.db")).exists();
        }
    }
}
