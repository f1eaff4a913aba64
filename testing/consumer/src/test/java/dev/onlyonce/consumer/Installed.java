package dev.onlyonce.consumer;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * The artifacts of this build in a repository of their own, as {@code mvn install} puts them into the user's, and a Maven that
 * sees them there. Everything else comes from the user's local repository, which is only read, or from where the user's Maven
 * gets it. What Maven has fetched once is kept for the next project and the next build.
 */
final class Installed {
    static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));

    private static final String VERSION = "0.1.0-SNAPSHOT";
    private static final List<String> MODULES = List.of(
            "core",
            "http",
            "stores/sql",
            "web/servlet",
            "web/webflux",
            "web/micrometer",
            "testkit",
            "console",
            "web/spring-boot-starter",
            "web/spring-boot-test");
    private static final String QUICK = "-XX:TieredStopAtLevel=1";
    private static final long PATIENCE_MINUTES = 8;

    private static final Path FOLDER = Path.of("target/maven").toAbsolutePath();

    private final Path settings;

    /** What a rehearsed release has put into a repository. */
    Installed(Path repository) throws IOException {
        Files.createDirectories(FOLDER);
        remove(FOLDER.resolve("local/dev/onlyonce"));
        settings = Files.writeString(
                FOLDER.resolve("release-settings.xml"), settings(repository, "releases", "snapshots"));
    }

    /** Installs. */
    Installed() throws IOException {
        Path repository = FOLDER.resolve("installed");
        remove(repository);
        remove(FOLDER.resolve("local/dev/onlyonce"));
        Files.copy(ROOT.resolve("bom/pom.xml"), artifact(repository, "onlyonce-bom", "pom"));
        Files.copy(ROOT.resolve("pom.xml"), artifact(repository, "onlyonce-parent", "pom"));
        for (String module : MODULES) {
            String id = "onlyonce-" + Path.of(module).getFileName();
            Files.copy(ROOT.resolve(module).resolve("pom.xml"), artifact(repository, id, "pom"));
            jar(ROOT.resolve(module).resolve("target/classes"), artifact(repository, id, "jar"));
        }
        settings = Files.writeString(FOLDER.resolve("settings.xml"), settings(repository, "snapshots", "releases"));
    }

    private static void remove(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static Path artifact(Path repository, String id, String type) throws IOException {
        Path directory = repository.resolve("dev/onlyonce/" + id + "/" + VERSION);
        Files.createDirectories(directory);
        return directory.resolve(id + "-" + VERSION + "." + type);
    }

    private static void jar(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, entries);
                entries.closeEntry();
            }
        }
    }

    private static String settings(Path repository, String takes, String refuses) {
        String built = repository("built", repository, takes, refuses);
        Path user = Path.of(System.getProperty("outer.repository"));
        String outer = repository("outer", user, "releases", "snapshots");
        return """
                <settings>
                  <mirrors>%s%s</mirrors>
                  <profiles>
                    <profile>
                      <id>built</id>
                      <repositories>%s%s</repositories>
                      <pluginRepositories>%s</pluginRepositories>
                    </profile>
                  </profiles>
                  <activeProfiles><activeProfile>built</activeProfile></activeProfiles>
                </settings>
                """.formatted(
                        mirror("built", repository),
                        mirror("outer", user),
                        list(built, "repository"),
                        list(outer, "repository"),
                        list(outer, "pluginRepository"));
    }

    /** One for this repository alone goes before one for all of them, which the user's settings may have. */
    private static String mirror(String id, Path path) {
        return "<mirror><id>%s</id><mirrorOf>%s</mirrorOf><url>%s</url></mirror>".formatted(id, id, path.toUri());
    }

    private static String list(String content, String element) {
        return "<" + element + ">" + content + "</" + element + ">";
    }

    private static String repository(String id, Path path, String takes, String refuses) {
        return "<id>%s</id><url>%s</url><%s><checksumPolicy>ignore</checksumPolicy></%s><%s><enabled>false</enabled></%s>"
                .formatted(id, path.toUri(), takes, takes, refuses, refuses);
    }

    /** Runs Maven in a project; returns what it printed. */
    String maven(Path project, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(),
                "-B",
                "-ntp",
                "-gs",
                settings.toString(),
                "-DargLine=" + QUICK,
                "-Dmaven.repo.local=" + FOLDER.resolve("local")));
        command.addAll(Arrays.asList(arguments));
        Path log = Files.createTempFile(FOLDER, "maven", ".log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        // Little runs for long.
        builder.environment().merge("MAVEN_OPTS", QUICK, (given, quick) -> given + " " + quick);
        Process process = builder.start();
        try {
            if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
                throw new IllegalStateException(String.join(" ", command) + " does not end:\n" + Files.readString(log));
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String printed = Files.readString(log, StandardCharsets.UTF_8);
        if (process.exitValue() != 0) {
            throw new AssertionError(String.join(" ", command) + " failed:\n" + printed);
        }
        return printed;
    }
}
