package dev.onlyonce.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("In an empty directory")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class ReadmeSampleTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(package shop;.*?)```", Pattern.DOTALL);
    private static final String ARTIFACT = "<artifactId>shop</artifactId>";

    @TempDir
    static Path folder;

    private static Installed installed;

    /** One build for both pages: Maven takes longer to start than to build them. */
    @BeforeAll
    static void build() throws Exception {
        installed = new Installed();
        paste("README.md", "readme", "shop");
        // Two projects of a build need two names.
        paste("docs/guides/spring-boot.md", "guide", "shop-of-the-guide");
        Files.writeString(folder.resolve("pom.xml"), """
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>shop</groupId>
                  <artifactId>samples</artifactId>
                  <version>1</version>
                  <packaging>pom</packaging>
                  <modules><module>readme</module><module>guide</module></modules>
                </project>
                """);
        installed.maven(folder, "-q", "package");
    }

    private static void paste(String page, String name, String artifact) throws IOException {
        String text = Files.readString(Installed.ROOT.resolve(page));
        assertThat(text).contains("examples/shop/pom.xml", "`./onlyonce install`");
        Matcher program = PROGRAM.matcher(text);
        assertThat(program.find()).isTrue();
        Path source = Files.createDirectories(folder.resolve(name).resolve("src/main/java/shop"));
        Files.writeString(source.resolve("Shop.java"), program.group(1));
        String pom = Files.readString(Installed.ROOT.resolve("docs/examples/shop/pom.xml"));
        assertThat(pom).contains(ARTIFACT);
        Files.writeString(
                folder.resolve(name).resolve("pom.xml"), pom.replace(ARTIFACT, ARTIFACT.replace("shop", artifact)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"readme", "guide"})
    @DisplayName("R1 the sample works as pasted, with the pom that the page links and the installed artifacts")
    void works(String name) throws Exception {
        Path project = folder.resolve(name);
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

    @Test
    @DisplayName(
            "R1 the program of the guide to plain Java works as pasted, with its pom and its command, and replays when started again")
    void plainJava() throws Exception {
        String page = Files.readString(Installed.ROOT.resolve("docs/guides/plain-java.md"));
        Path project = Files.createTempDirectory(folder, "plain");
        Files.writeString(project.resolve("pom.xml"), blocks(page, "xml"));
        Path sources = Files.createDirectories(project.resolve("src/main/java"));
        Files.writeString(sources.resolve("Shop.java"), blocks(page, "java"));
        Matcher command = Pattern.compile("`mvn ([^`]* exec:java [^`]*)`").matcher(page);
        assertThat(command.find()).isTrue();
        String[] arguments = command.group(1).split(" ");

        List<String> first = printed(installed.maven(project, arguments));
        assertThat(first).hasSize(8).contains("Receipt[id=ordered book, cents=990]", "parcel with book");
        assertThat(printed(installed.maven(project, arguments))).isEqualTo(first);
    }

    /** All blocks of a language on a page, one below the other. */
    private static String blocks(String page, String language) {
        return Pattern.compile("```" + language + "\\n(.*?)```", Pattern.DOTALL)
                .matcher(page)
                .results()
                .map(block -> block.group(1))
                .collect(Collectors.joining("\n"));
    }

    /** Without Maven's colours and the hint that a binding for logs is missing, which the page leaves to its reader. */
    private static List<String> printed(String output) {
        return output.replaceAll("\u001b\\[[0-9;]*m", "")
                .lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("SLF4J"))
                .toList();
    }
}
