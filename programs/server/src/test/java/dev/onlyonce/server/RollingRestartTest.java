package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway that is restarted behind a load balancer")
class RollingRestartTest {
    private static final int CLIENTS = 4;

    @TempDir
    Path folder;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicReference<GatewayProcess> target = new AtomicReference<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger answered = new AtomicInteger();
    private final List<String> lost = new CopyOnWriteArrayList<>();

    private GatewayProcess start(String name, CountingUpstream upstream) throws IOException {
        Path config = Files.writeString(folder.resolve(name + ".yaml"), """
                listen: {host: 127.0.0.1, port: 0, drain-grace: 2s}
                admin: {port: 0}
                upstreams: [{url: %s}]
                data: %s
                """.formatted(upstream.url(), name));
        return GatewayProcess.start(folder.resolve(name + ".log"), "--config", config.toString());
    }

    @Test
    @DisplayName(
            "loses no request of clients that repeat none: it is not ready first, then serves for a while, then stops")
    void nothingLost() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS + 1);
        try (CountingUpstream upstream = new CountingUpstream();
                GatewayProcess old = start("old", upstream);
                GatewayProcess young = start("young", upstream)) {
            target.set(old);
            List<Future<?>> running = new CopyOnWriteArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                running.add(threads.submit(() -> send(number)));
            }
            Eventually.eventually(() -> assertThat(answered).hasValueGreaterThan(20));
            CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> terminate(old), threads);
            // What a load balancer does.
            Eventually.eventually(() -> assertThat(ready(old)).isEqualTo(503));
            assertThat(answerOn(old).headers().firstValue("Connection"))
                    .as("each answer ends its connection, so that none is closed while it is used")
                    .hasValue("close");
            target.set(young);
            assertThat(exit.get()).isZero();
            int before = answered.get();
            Eventually.eventually(() -> assertThat(answered).hasValueGreaterThan(before + 20));
            over.set(true);
            for (Future<?> one : running) {
                one.get();
            }
            assertThat(lost).isEmpty();
        } finally {
            over.set(true);
            threads.shutdownNow();
        }
    }

    private static int terminate(GatewayProcess gateway) {
        try {
            return gateway.terminate();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private int ready(GatewayProcess gateway) throws IOException, InterruptedException {
        HttpRequest probe =
                HttpRequest.newBuilder(gateway.admin("/health/ready")).build();
        return client.send(probe, HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private HttpResponse<String> answerOn(GatewayProcess gateway) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(gateway.url("/things")).build(), HttpResponse.BodyHandlers.ofString());
    }

    private void send(int client) {
        for (int i = 0; !over.get(); i++) {
            HttpRequest request = HttpRequest.newBuilder(target.get().url("/payments"))
                    .header("Idempotency-Key", "restart-" + client + "-" + i)
                    .timeout(Duration.ofSeconds(30))
                    .POST(HttpRequest.BodyPublishers.ofString("{}"))
                    .build();
            try {
                int status = this.client
                        .send(request, HttpResponse.BodyHandlers.ofString())
                        .statusCode();
                if (status != 201) {
                    lost.add("status " + status);
                }
                answered.incrementAndGet();
            } catch (IOException | InterruptedException e) {
                lost.add(e.toString());
            }
        }
    }
}
