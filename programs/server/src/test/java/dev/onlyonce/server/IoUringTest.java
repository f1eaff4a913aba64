package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.vertx.core.transport.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway that shall use io_uring")
class IoUringTest {
    static void assumeAllowed() {
        assumeTrue(Transport.IO_URING != null && Transport.IO_URING.available(), "io_uring is forbidden here");
    }

    @Test
    @DisplayName("asks the kernel by it, and runs and replays")
    void inUse(@TempDir Path folder) throws Exception {
        assumeAllowed();
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), Running.listen(true))) {
            String first = gateway.post("/payments", "k1", "{}").body();
            assertThat(gateway.post("/payments", "k1", "{}").body()).isEqualTo(first);
            assertThat(upstream.effects("k1")).isEqualTo(1);
            try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                assertThat(open.map(IoUringTest::target)).contains("anon_inode:[io_uring]");
            }
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return "closed meanwhile";
        }
    }

    @Test
    @DisplayName("does not start where it is not available, and says what to do")
    void unavailable(@TempDir Path folder) throws Exception {
        Path config = Files.writeString(
                folder.resolve("gateway.yaml"),
                "listen: {host: 127.0.0.1, port: 0, io-uring: true}\nadmin: {port: 0}\nupstreams: [{url: 'http://127.0.0.1:9'}]\n");
        List<String> command = GatewayProcess.java();
        command.add(1, "-Dio.netty.transport.noNative=true");
        command.addAll(List.of("gateway", "--config", config.toString()));
        Path said = folder.resolve("said");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertThat(process.waitFor(1, TimeUnit.MINUTES)).as("it has ended").isTrue();
            assertThat(process.exitValue()).isNotZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(said).content().contains("io_uring is not available here", "remove io-uring from listen");
    }
}
