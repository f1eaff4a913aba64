package dev.onlyonce.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rehearses a release, twice, as {@code .ci/release} does it. */
@Tag("thorough")
@DisplayName("A rehearsed release")
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ReleaseTest {
    private static final String VERSION = "0.1.0";
    private static final long PATIENCE_MINUTES = 25;
    private static final Pattern MANAGED = Pattern.compile(
            "<artifactId>(onlyonce-[\\w-]+)</artifactId>\\s*<version>\\$\\{project\\.version}</version>");

    @TempDir
    static Path folder;

    private static Path first;
    private static Path second;
    private static List<String> published;
    private static Installed installed;

    @BeforeAll
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    static void rehearse() throws Exception {
        published = MANAGED.matcher(Files.readString(Installed.ROOT.resolve("bom/pom.xml")))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(published).hasSizeGreaterThan(15);
        Path keys = Files.createDirectories(folder.resolve("gpg"));
        keys.toFile().setReadable(false, false);
        keys.toFile().setReadable(true, true);
        run(
                keys,
                "gpg",
                "--batch",
                "--passphrase",
                "",
                "--quick-gen-key",
                "release@onlyonce.dev",
                "ed25519",
                "sign",
                "1d");
        first = folder.resolve("first");
        second = folder.resolve("second");
        run(keys, release(), VERSION, first.toString(), "-Psigning", "-Dgpg.keyname=release@onlyonce.dev");
        run(keys, release(), VERSION, second.toString());
        installed = new Installed(first);
    }

    private static String release() {
        return Installed.ROOT.resolve(".ci/release").toString();
    }

    /** Runs a program; returns what it printed. */
    private static String run(Path keys, String... command) throws IOException, InterruptedException {
        Path log = Files.createTempFile(folder, "run", ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().put("GNUPGHOME", keys.toString());
        builder.environment()
                .merge("PATH", System.getProperty("maven.home") + "/bin", (path, maven) -> maven + ":" + path);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES))
                    .as(Arrays.toString(command))
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        assertThat(process.exitValue())
                .as("%s: %s", Arrays.toString(command), Files.readString(log))
                .isZero();
        return Files.readString(log);
    }

    private static Path file(Path repository, String artifact, String suffix) {
        return repository.resolve("dev/onlyonce/%s/%s/%s-%s%s".formatted(artifact, VERSION, artifact, VERSION, suffix));
    }

    @Test
    @DisplayName("has jar, sources, documentation, bill of materials, checksums and signatures of every artifact")
    void complete() throws Exception {
        List<String> poms = new ArrayList<>(published);
        poms.addAll(List.of("onlyonce-bom", "onlyonce-parent"));
        for (String artifact : poms) {
            List<String> suffixes = new ArrayList<>(List.of(".pom"));
            if (published.contains(artifact)) {
                suffixes.addAll(List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"));
            }
            for (String suffix : suffixes) {
                Path file = file(first, artifact, suffix);
                assertThat(file).isNotEmptyFile();
                assertThat(Path.of(file + ".sha1")).exists();
                run(folder.resolve("gpg"), "gpg", "--verify", file + ".asc", file.toString());
            }
        }
        try (Stream<Path> directories = Files.list(first.resolve("dev/onlyonce"))) {
            assertThat(directories.map(directory -> directory.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(poms);
        }
        assertThat(file(first, "onlyonce-sql", "-cyclonedx.json"))
                .content()
                .contains("pkg:maven/dev.onlyonce/onlyonce-core@" + VERSION)
                .doesNotContain("junit");
        try (JarFile documentation =
                        new JarFile(file(first, "onlyonce-core", "-javadoc.jar").toFile());
                JarFile sources =
                        new JarFile(file(first, "onlyonce-core", "-sources.jar").toFile())) {
            assertThat(documentation.getEntry("dev/onlyonce/Onlyonce.html")).isNotNull();
            assertThat(sources.getEntry("dev/onlyonce/Onlyonce.java")).isNotNull();
        }
    }

    @Test
    @DisplayName("has the same bytes when it is built again elsewhere")
    void reproducible() throws Exception {
        Map<String, byte[]> one = contents(first);
        Map<String, byte[]> other = contents(second);
        assertThat(other.keySet()).isEqualTo(one.keySet());
        assertThat(one.keySet().stream()
                        .filter(name -> !Arrays.equals(one.get(name), other.get(name)))
                        .toList())
                .isEmpty();
    }

    /** Without what tells when it came, and who signed it. */
    private static Map<String, byte[]> contents(Path repository) throws IOException {
        Map<String, byte[]> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(repository)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = repository.relativize(file).toString();
                if (!name.contains("maven-metadata") && !name.contains(".asc")) {
                    contents.put(name, Files.readAllBytes(file));
                }
            }
        }
        return contents;
    }

    @Test
    @DisplayName("resolves with the BOM alone, and a modular program compiles against the modules")
    void consumed() throws Exception {
        Map<String, String> modules = new TreeMap<>();
        for (String artifact : published) {
            try (JarFile jar = new JarFile(file(first, artifact, ".jar").toFile())) {
                modules.put(artifact, jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"));
            }
        }
        assertThat(modules.values()).doesNotHaveDuplicates().allMatch(name -> name.startsWith("dev.onlyonce."));
        Path project = Files.createDirectories(folder.resolve("modular"));
        Files.writeString(project.resolve("pom.xml"), """
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>shop</groupId>
                  <artifactId>modular</artifactId>
                  <version>1</version>
                  <properties>
                    <maven.compiler.release>17</maven.compiler.release>
                    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
                  </properties>
                  <dependencyManagement>
                    <dependencies>
                      <dependency>
                        <groupId>dev.onlyonce</groupId>
                        <artifactId>onlyonce-bom</artifactId>
                        <version>%s</version>
                        <type>pom</type>
                        <scope>import</scope>
                      </dependency>
                    </dependencies>
                  </dependencyManagement>
                  <dependencies>
                %s
                  </dependencies>
                  <build>
                    <pluginManagement>
                      <plugins>
                        <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.14.1</version></plugin>
                        <plugin><artifactId>maven-resources-plugin</artifactId><version>3.5.0</version></plugin>
                      </plugins>
                    </pluginManagement>
                  </build>
                </project>
                """.formatted(
                        VERSION,
                        published.stream()
                                .map(artifact -> "<dependency><groupId>dev.onlyonce</groupId><artifactId>" + artifact
                                        + "</artifactId></dependency>")
                                .collect(Collectors.joining("\n"))));
        Path sources = Files.createDirectories(project.resolve("src/main/java/shop"));
        Files.writeString(
                sources.resolveSibling("module-info.java"),
                modules.values().stream()
                        .map(name -> "  requires " + name + ";\n")
                        .collect(Collectors.joining("", "module shop {\n", "}\n")));
        Files.writeString(sources.resolve("Shop.java"), """
                package shop;

                import dev.onlyonce.Key;
                import dev.onlyonce.Onlyonce;
                import dev.onlyonce.client.RetryingClient;
                import dev.onlyonce.fingerprint.Fingerprint;
                import dev.onlyonce.sql.SqlStore;
                import dev.onlyonce.store.MemoryStore;

                class Shop {
                    Class<?>[] used = {Key.class, Onlyonce.class, RetryingClient.class, Fingerprint.class, SqlStore.class, MemoryStore.class};
                }
                """);
        installed.maven(project, "-q", "compile");
        assertThat(project.resolve("target/classes/module-info.class")).exists();
    }

    @Test
    @DisplayName("is what the next one is compared with, and a change that breaks its API fails")
    void compared() throws Exception {
        String unchanged = library("onlyonce-added");
        assertThat(unchanged).doesNotContain("incompatible");
        assertThatThrownBy(() -> library("onlyonce-servlet")).hasMessageContaining("OnlyonceFilter");
    }

    /** Builds a library of one class in the place of an artifact, and compares it with the release. */
    private static String library(String artifact) throws Exception {
        Path project = Files.createDirectories(folder.resolve(artifact));
        Files.writeString(project.resolve("pom.xml"), """
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <parent>
                    <groupId>dev.onlyonce</groupId>
                    <artifactId>onlyonce-parent</artifactId>
                    <version>%s</version>
                    <relativePath/>
                  </parent>
                  <artifactId>%s</artifactId>
                  <version>0.2.0</version>
                </project>
                """.formatted(VERSION, artifact));
        Path sources = Files.createDirectories(project.resolve("src/main/java/dev/onlyonce/added"));
        Files.writeString(sources.resolve("Added.java"), "package dev.onlyonce.added;\n\npublic class Added {}\n");
        return installed.maven(project, "-Papi,program", "-Dapi.baseline=" + VERSION, "verify");
    }
}
