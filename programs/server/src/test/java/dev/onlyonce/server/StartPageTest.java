package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("docs/start.md")
class StartPageTest {
    private static final Pattern COMMANDS = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
    private static final String WAIT = """
            for i in $(seq 600); do curl -sf http://127.0.0.1:8091/health/ready >&2 && break; sleep 0.1; done
            for i in $(seq 600); do curl -sf http://127.0.0.1:9000/ >&2 && break; sleep 0.1; done
            """;

    @TempDir
    Path folder;

    @Test
    @DisplayName("works as it stands, command by command, in front of a service that is not in Java")
    void works() throws Exception {
        Path root = ConfigFileTest.root();
        Files.createSymbolicLink(folder.resolve("docs"), root.resolve("docs"));
        Path program = Files.writeString(
                folder.resolve("onlyonce"), "#!/bin/sh\nexec " + String.join(" ", GatewayProcess.java()) + " \"$@\"\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));

        List<String> blocks = new ArrayList<>();
        Matcher commands = COMMANDS.matcher(Files.readString(root.resolve("docs/start.md")));
        while (commands.find()) {
            blocks.add(commands.group(1));
        }
        assertThat(blocks).hasSize(6);
        StringBuilder script = new StringBuilder("set -e\ntrap 'kill $(jobs -p)' EXIT\n");
        for (int i = 0; i < blocks.size(); i++) {
            script.append("echo '== ").append(i).append("'\n").append(blocks.get(i));
            if (i == 1) {
                script.append(WAIT);
            }
        }
        String text = script.toString();
        int[] ports = freePorts(3);
        text = text.replace("--upstream", "--port " + ports[0] + " --admin-port " + ports[1] + " --upstream")
                .replace("8090", "" + ports[0])
                .replace("8091", "" + ports[1])
                .replace("9000", "" + ports[2])
                .replaceAll("(onlyonce keys \\w+)", "$1 --admin http://127.0.0.1:" + ports[1]);
        Process process = new ProcessBuilder("bash", "-c", text)
                .directory(folder.toFile())
                .redirectError(folder.resolve("err").toFile())
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue())
                .as(out + Files.readString(folder.resolve("err")))
                .isZero();

        String[] parts = out.split("== \\d\n", -1);
        String retry = parts[3];
        assertThat(retry.split("\"payments\":1", -1))
                .as("the second answer is the first")
                .hasSize(3);
        assertThat(retry.split("Idempotent-Replayed: true", -1)).hasSize(2);
        assertThat(parts[4]).contains("422").contains("400").contains("key_missing");
        assertThat(parts[5]).contains("order-1").contains("completed").contains("201");
        assertThat(parts[6])
                .contains("api_idempotency_reserve_created_total{operation=\"POST /**\",tenant=\"default\"} 1.0")
                .contains("api_idempotency_reserve_replay_total")
                .contains("ready");
    }

    /** Free now, and none that the system gives to an outgoing connection before the page's programs take it. */
    private static int[] freePorts(int count) {
        return ThreadLocalRandom.current()
                .ints(15_000, 32_000)
                .distinct()
                .filter(StartPageTest::isFree)
                .limit(count)
                .toArray();
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
