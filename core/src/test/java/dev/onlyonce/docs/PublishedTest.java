package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What needs no build to be checked; the release test of the module {@code consumer} looks at the artifacts. */
@DisplayName("The poms of what is published")
class PublishedTest {
    private static final Pattern MANAGED = Pattern.compile(
            "<artifactId>onlyonce-([\\w-]+)</artifactId>\\s*<version>\\$\\{project\\.version}</version>");

    /** The poms of modules that are published, by name, without the BOM. */
    private static Map<String, String> published() throws IOException {
        Map<String, String> poms = new TreeMap<>();
        for (Map.Entry<String, Path> module : Modules.all().entrySet()) {
            String pom = Files.readString(module.getValue().resolve("pom.xml"));
            if (!pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")
                    && !module.getKey().equals("bom")) {
                poms.put(module.getKey(), pom);
            }
        }
        return poms;
    }

    private static String bom() throws IOException {
        return Files.readString(Modules.ROOT.resolve("bom/pom.xml"));
    }

    private static List<String> all(String pattern, String text) {
        return Pattern.compile(pattern, Pattern.DOTALL)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    @Test
    @DisplayName("are all in the BOM, and nothing else is")
    void bomIsComplete() throws IOException {
        List<String> managed =
                MANAGED.matcher(bom()).results().map(found -> found.group(1)).toList();
        assertThat(managed).isSorted().containsExactlyElementsOf(published().keySet());
    }

    @Test
    @DisplayName("get from the BOM what Maven Central asks for")
    void metadata() throws IOException {
        assertThat(bom())
                .contains(
                        "<url>https://onlyonce.dev</url>",
                        "<licenses>",
                        "<developers>",
                        "<scm ",
                        "<connection>scm:git:")
                .doesNotContain("<parent>");
        String parent = Files.readString(Modules.ROOT.resolve("pom.xml"));
        assertThat(parent).containsPattern("<parent>\\s*<groupId>dev.onlyonce</groupId>\\s*<artifactId>onlyonce-bom<");
        assertThat(published()).allSatisfy((module, pom) -> {
            assertThat(pom).as(module).contains("<artifactId>onlyonce-parent</artifactId>");
            assertThat(all("\n  <name>(.+?)</name>", pom)).as(module).hasSize(1);
            assertThat(all("\n  <description>(.+?)</description>", pom))
                    .as(module)
                    .hasSize(1);
        });
    }

    @Test
    @DisplayName("name a module each, after the root package of the jar")
    void moduleNames() throws IOException {
        Map<String, String> names = new TreeMap<>();
        published().forEach((module, pom) -> {
            List<String> name = all("<module.name>(.+?)</module.name>", pom);
            assertThat(name).as("the <module.name> of %s", module).hasSize(1);
            names.put(module, name.get(0));
        });
        assertThat(names.values()).doesNotHaveDuplicates();
        for (Map.Entry<String, String> name : names.entrySet()) {
            // Core's root package is that of all, console has no Java, and the others are named after what they are.
            if (!Set.of("core", "console", "client-interceptors").contains(name.getKey())) {
                Path sources = Modules.all().get(name.getKey()).resolve("src/main/java");
                assertThat(sources.resolve(name.getValue().replace('.', '/')))
                        .as(name.getKey())
                        .isDirectory();
            }
        }
    }

    @Test
    @DisplayName("have the version of the BOM, as every other pom")
    void versions() throws IOException {
        String version = all("\n  <version>(.+?)</version>", bom()).get(0);
        List<String> others = new ArrayList<>();
        for (Map.Entry<String, Path> module : Modules.all().entrySet()) {
            for (MatchResult found : Pattern.compile("<version>(\\d[^<]*-SNAPSHOT)</version>")
                    .matcher(Files.readString(module.getValue().resolve("pom.xml")))
                    .results()
                    .toList()) {
                if (!found.group(1).equals(version)) {
                    others.add(module.getKey() + " " + found.group(1));
                }
            }
        }
        assertThat(others).isEmpty();
    }

    @Test
    @DisplayName("keep the bytes of a jar the same from build to build")
    void reproducible() throws IOException {
        assertThat(Files.readString(Modules.ROOT.resolve("pom.xml")))
                .containsPattern("<project.build.outputTimestamp>\\d{4}-\\d\\d-\\d\\dT00:00:00Z<");
        assertThat(published().values().stream()
                        .filter(pom -> pom.contains("maven.build.timestamp"))
                        .toList())
                .isEmpty();
    }
}
