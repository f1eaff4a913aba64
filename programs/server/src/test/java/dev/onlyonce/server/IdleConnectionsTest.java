package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@DisplayName("A gateway with very many connections")
@Isolated
class IdleConnectionsTest {
    private static final int IDLE = 10_000;
    /** For files, the store, the upstream, and those that do something. */
    private static final int OTHERS = 1000;

    @TempDir
    Path folder;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** A JVM raises its own limit of open files as far as it is allowed to. */
    private static int openFilesMax() throws IOException {
        Process shell = new ProcessBuilder("sh", "-c", "ulimit -H -n").start();
        String limit = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return limit.equals("unlimited") ? Integer.MAX_VALUE : Integer.parseInt(limit);
    }

    private int post(GatewayProcess gateway, String key) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(gateway.url("/payments"))
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    private String metrics(GatewayProcess gateway) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(gateway.admin("/metrics")).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    @Test
    @DisplayName("keeps 10,000 idle ones and goes on serving")
    void idle() throws Exception {
        int limit = openFilesMax();
        assumeTrue(
                limit >= IDLE + OTHERS,
                "skipped: a process may open " + limit + " files only, and " + (IDLE + OTHERS)
                        + " are needed; raise it with: ulimit -H -n " + (IDLE + OTHERS));
        List<SocketChannel> idle = new ArrayList<>(IDLE);
        try (CountingUpstream upstream = new CountingUpstream();
                GatewayProcess gateway = GatewayProcess.start(
                        folder.resolve("log"),
                        "--upstream",
                        upstream.url().toString(),
                        "--host",
                        "127.0.0.1",
                        "--port",
                        "0",
                        "--admin-port",
                        "0",
                        "--data",
                        folder.resolve("data").toString())) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port());
            for (int i = 0; i < IDLE; i++) {
                idle.add(SocketChannel.open(address));
            }
            Eventually.eventually(
                    () -> assertThat(metrics(gateway)).containsPattern("gateway_connections 1\\d{4}\\.0"));
            assertThat(post(gateway, "k1")).isEqualTo(201);
            assertThat(post(gateway, "k1")).isEqualTo(201);
            assertThat(upstream.effects("k1")).isEqualTo(1);
            close(idle);
            Eventually.eventually(() -> assertThat(metrics(gateway)).containsPattern("gateway_connections \\d\\.0"));
            assertThat(post(gateway, "k2")).isEqualTo(201);
        } finally {
            close(idle);
        }
    }

    private static void close(List<SocketChannel> channels) throws IOException {
        for (SocketChannel channel : channels) {
            channel.close();
        }
    }
}
