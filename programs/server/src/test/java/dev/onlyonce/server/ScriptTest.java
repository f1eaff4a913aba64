package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The script ./onlyonce")
class ScriptTest {
    @TempDir
    Path folder;

    private Path jar;
    private String path;

    /** A checkout in which Maven and Java only say what they were asked to do. */
    @BeforeEach
    void checkout() throws IOException {
        Files.copy(ConfigFileTest.root().resolve("onlyonce"), folder.resolve("onlyonce"));
        folder.resolve("onlyonce").toFile().setExecutable(true);
        for (String module : List.of(
                "core",
                "stores/sql",
                "web/servlet",
                "web/spring-boot-starter",
                "programs/server",
                "examples/payments")) {
            Files.createDirectories(folder.resolve(module + "/src/main"));
            old(Files.writeString(folder.resolve(module + "/pom.xml"), ""));
            old(Files.writeString(folder.resolve(module + "/src/main/A.java"), ""));
        }
        jar = folder.resolve("programs/server/target/onlyonce.jar");
        program("mvn", """
                echo "[INFO] Building Onlyonce core 0.1.0-SNAPSHOT                    [1/5]"
                echo "built $*" >>built
                mkdir -p programs/server/target examples/payments/target
                touch programs/server/target/onlyonce.jar examples/payments/target/payments.jar""");
        path = folder.resolve("bin") + ":" + System.getenv("PATH");
        program("java", "for a in \"$@\"; do echo \"[$a]\"; done; echo pid $$; exit 7");
    }

    private void program(String name, String script) throws IOException {
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Path file = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static void old(Path file) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH.plusSeconds(1_000_000)));
    }

    private record Ran(long pid, int exitCode, String out) {}

    private Ran run(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(folder.resolve("onlyonce").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("PATH", path);
        builder.environment().remove("ONLYONCE_JAVA_OPTS");
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Ran(process.pid(), process.exitValue(), out);
    }

    @Test
    @DisplayName("builds what is missing, and only then, and names each part when its turn comes")
    void builds() throws Exception {
        String progress = "onlyonce: building Onlyonce core [1/5]\n";
        assertThat(run().out()).contains("the first time this downloads a lot", progress);
        assertThat(folder.resolve("built")).content().contains("-Pprogram", ",programs/server package");
        assertThat(run().out()).as("nothing has changed").doesNotContain("building");
        Files.setLastModifiedTime(jar, FileTime.from(Instant.EPOCH));
        assertThat(run().out()).as("a reproducible build dates the jar back").doesNotContain("building");
        Files.setLastModifiedTime(
                folder.resolve("stores/sql/src/main/A.java"), FileTime.from(Instant.parse("2200-01-01T00:00:00Z")));
        assertThat(run().out()).as("a source is newer").contains(progress);
    }

    @Test
    @DisplayName("builds every module that the programs need to run, and none that only tests need")
    void modules() throws Exception {
        String script = Files.readString(ConfigFileTest.root().resolve("onlyonce"));
        List<Set<String>> built = Pattern.compile("sources='(.*)'")
                .matcher(script)
                .results()
                .map(found -> Set.of(found.group(1).split(" ")))
                .toList();
        assertThat(built)
                .containsExactly(
                        needed("examples/payments", new TreeSet<>()),
                        published(),
                        needed("programs/server", new TreeSet<>()));
    }

    /** What applications can depend on. */
    private static Set<String> published() throws IOException {
        Set<String> published = new TreeSet<>();
        Matcher module = Pattern.compile("<module>(.*)</module>")
                .matcher(Files.readString(ConfigFileTest.root().resolve("pom.xml")));
        while (module.find()) {
            String pom = Files.readString(ConfigFileTest.root().resolve(module.group(1) + "/pom.xml"));
            if (!pom.contains("<maven.deploy.skip>true</maven.deploy.skip>")) {
                published.add(module.group(1));
            }
        }
        return published;
    }

    @Test
    @DisplayName("installs the libraries and their parent, and runs nothing")
    void installs() throws Exception {
        Ran ran = run("install");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out())
                .contains("onlyonce: building Onlyonce core [1/5]\n", "are in your local Maven repository")
                .doesNotContain("[-jar]");
        assertThat(folder.resolve("built")).content().contains("-pl .,", "web/spring-boot-starter", " install");
        Ran help = run("install", "--help");
        assertThat(help.exitCode()).isEqualTo(2);
        assertThat(help.out()).isEqualTo("onlyonce: install takes no arguments\n");
    }

    /** Adds a module and those that it needs to be compiled and run. */
    private static Set<String> needed(String module, Set<String> found) throws IOException {
        if (found.add(module)) {
            String pom = Files.readString(ConfigFileTest.root().resolve(module + "/pom.xml"));
            for (MatchResult dependency : Pattern.compile("(?s)<dependency>.*?</dependency>")
                    .matcher(pom)
                    .results()
                    .toList()) {
                Matcher own = Pattern.compile("<artifactId>onlyonce-(.*)</artifactId>")
                        .matcher(dependency.group());
                if (own.find() && !dependency.group().contains("<scope>test</scope>")) {
                    needed(folder(own.group(1)), found);
                }
            }
        }
        return found;
    }

    /** The path of a module. */
    private static String folder(String module) throws IOException {
        return Pattern.compile("<module>((?:[^<]*/)?" + Pattern.quote(module) + ")</module>")
                .matcher(Files.readString(ConfigFileTest.root().resolve("pom.xml")))
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @DisplayName("shows what Maven said if the build fails, and runs nothing")
    void fails() throws Exception {
        // Maven's last line has no end: it resets colours.
        program(
                "mvn",
                "mkdir -p programs/server/target; echo half >programs/server/target/onlyonce.jar;"
                        + " printf '[ERROR] no such thing\\n\\033[0m'; exit 1");
        Ran ran = run("keys");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.out())
                .contains("[ERROR] no such thing", "the build failed")
                .doesNotContain("[-jar]");
        assertThat(jar).as("half built").doesNotExist();
    }

    @Test
    @DisplayName("takes no build for a success whose log cannot be written")
    void diskFull() throws Exception {
        program("mvn", "echo '[ERROR] no space left'; exit 1");
        program("tee", "cat");
        Ran ran = run("keys");
        assertThat(ran.exitCode()).isEqualTo(1);
        assertThat(ran.out()).contains("the build failed").doesNotContain("[-jar]");
    }

    @Test
    @DisplayName("hands over arguments and exit code, and becomes the program, so that signals reach it")
    void becomes() throws Exception {
        Ran ran = run("keys", "show", "two words", "--reason", "");
        assertThat(ran.exitCode()).isEqualTo(7);
        assertThat(ran.out())
                .contains("[-jar]", "[keys]", "[show]", "[two words]", "[--reason]", "[]")
                .contains("pid " + ran.pid());
    }

    @Test
    @DisplayName("runs the reference payments for demo, storm and provider, and its help names them")
    void payments() throws Exception {
        for (String command : List.of("demo", "storm", "provider")) {
            assertThat(run(command, "--port", "1").out())
                    .contains(
                            "[" + folder.resolve("examples/payments/target/payments.jar") + "]",
                            "[" + command + "]",
                            "[1]");
        }
        Ran help = run("--help");
        assertThat(help.exitCode()).isEqualTo(7);
        assertThat(help.out()).contains("[" + jar + "]").containsPattern("(?m)^  demo .*\n  storm .*\n  provider ");
    }

    @Test
    @DisplayName("says what to install when Maven is not there")
    void needs() throws Exception {
        Files.delete(folder.resolve("bin/mvn"));
        program("dirname", "echo " + folder);
        path = folder.resolve("bin").toString();
        Ran ran = run("demo");
        assertThat(ran.exitCode()).isEqualTo(2);
        assertThat(ran.out()).isEqualTo("onlyonce: mvn is not on the PATH; install Maven, 3.8.7 or newer\n");
    }
}
