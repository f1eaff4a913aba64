package dev.onlyonce.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Here, since only the last module finds the distribution packed. As an ordinary user, in an empty directory. */
@DisplayName("docs/operating/install.md")
class NewcomerTest {
    private static final Pattern COMMANDS = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
    private static final String NOBODY = "65534";
    private static final String WAIT =
            "for i in $(seq 1200); do curl -sf http://127.0.0.1:8091/health/ready >&2 && break; sleep 0.1; done\n";
    private static final int PATIENCE_MINUTES = 4;

    @TempDir
    Path folder;

    private final AtomicInteger payments = new AtomicInteger();
    private HttpServer service;

    @BeforeEach
    void start() throws IOException {
        service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        service.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            byte[] answer = ("{\"payments\":" + payments.incrementAndGet() + "}").getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(201, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        service.start();
    }

    @AfterEach
    void stop() {
        service.stop(0);
    }

    private static Path distribution() throws IOException {
        try (Stream<Path> files = Files.list(BuildReports.ROOT.resolve("programs/server/target"))) {
            return files.filter(
                            file -> file.getFileName().toString().matches("onlyonce-\\d[^-]*(-SNAPSHOT)?\\.tar\\.gz"))
                    .findFirst()
                    .orElseThrow(
                            () -> new AssertionError("mvn package -pl programs/server -am makes the distribution"));
        }
    }

    @Test
    @DisplayName("R1 S1 works as it stands, from the archive to a replay and its metrics")
    void works() throws Exception {
        Path archive = distribution();
        String name = archive.getFileName().toString().replace(".tar.gz", "");
        Path home = Files.createDirectory(folder.resolve("home"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.copy(archive, home.resolve(archive.getFileName()));

        List<String> blocks = COMMANDS.matcher(Files.readString(BuildReports.ROOT.resolve("docs/operating/install.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(4);
        StringBuilder script = new StringBuilder("set -e\ntrap 'kill $(jobs -p); wait' EXIT\n");
        for (String block : blocks) {
            script.append("echo '== ")
                    .append(block.lines().findFirst().orElse("").replace("'", ""))
                    .append("'\n");
            script.append(block).append(block.contains("gateway --upstream") ? WAIT : "");
        }
        int[] ports = freePorts();
        String text = script.toString()
                .replaceAll("onlyonce-\\d[\\w.]*?(-SNAPSHOT)?(?=\\.tar|\\n|/)", name)
                .replace("--upstream", "--port " + ports[0] + " --admin-port " + ports[1] + " --upstream")
                .replaceAll("(onlyonce keys \\w+)", "$1 --admin http://127.0.0.1:" + ports[1])
                .replace("8090", "" + ports[0])
                .replace("8091", "" + ports[1])
                .replace("9000", "" + service.getAddress().getPort());
        String out = run(home, text);

        assertThat(payments).as("what the service did\n%s", out).hasValue(1);
        assertThat(out.split("\"payments\":1}", -1)).as(out).hasSize(3);
        assertThat(out)
                .contains("Idempotent-Replayed: true", "order-1", "completed")
                .containsPattern("api_idempotency_reserve_replay_total\\{.*} 1\\.0")
                .contains("The configuration is valid");
    }

    private String run(Path home, String script) throws Exception {
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"));
        }
        command.addAll(List.of("bash", "-c", script));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(home.toFile())
                .redirectError(folder.resolve("err").toFile());
        builder.environment().put("HOME", home.toString());
        // On the PATH alone, as on most machines.
        builder.environment().remove("JAVA_HOME");
        builder.environment()
                .merge("PATH", System.getProperty("java.home") + "/bin", (path, java) -> java + ":" + path);
        builder.environment().keySet().removeIf(name -> name.startsWith("ONLYONCE_") || name.startsWith("XDG_"));
        Process process = builder.start();
        try {
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue())
                    .as("%s\n%s", out, Files.readString(folder.resolve("err")))
                    .isZero();
            return out;
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** Free now, and none that the system gives to an outgoing connection before the gateway takes it. */
    private static int[] freePorts() {
        return ThreadLocalRandom.current()
                .ints(15_000, 32_000)
                .distinct()
                .filter(port -> {
                    try (ServerSocket socket = new ServerSocket(port)) {
                        return socket.isBound();
                    } catch (IOException e) {
                        return false;
                    }
                })
                .limit(2)
                .toArray();
    }
}
