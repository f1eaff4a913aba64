package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** With {@code -Dstorm.kills=120} it goes on for two minutes and more. */
@DisplayName("Gateways in processes of their own")
@Isolated
class ProcessTest {
    private static final int GATEWAYS = 3;
    private static final int CLIENTS = 8;
    private static final int KILLS =
            Integer.getInteger("storm.kills", Boolean.getBoolean("onlyonce.thorough") ? 12 : GATEWAYS);

    @TempDir
    Path folder;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private CountingUpstream upstream;

    @BeforeEach
    void start() {
        upstream = new CountingUpstream();
    }

    @AfterEach
    void stop() {
        upstream.close();
    }

    private static HttpRequest request(GatewayProcess gateway, String path, String key) {
        return HttpRequest.newBuilder(gateway.url(path))
                .header("Idempotency-Key", key)
                .timeout(Duration.ofSeconds(30))
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
    }

    private int post(GatewayProcess gateway, String path, String key) throws IOException, InterruptedException {
        return client.send(request(gateway, path, key), HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    @Test
    @DisplayName("drain on SIGTERM: the request under way is answered, the exit code is 0")
    void sigterm() throws Exception {
        Path log = folder.resolve("log");
        try (GatewayProcess gateway = GatewayProcess.start(
                log,
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
            CompletableFuture<Integer> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return post(gateway, "/held", "k1");
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            upstream.awaitHeld();
            CompletableFuture<Integer> exit = CompletableFuture.supplyAsync(() -> {
                try {
                    return gateway.terminate();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Eventually.eventually(() -> assertThat(Files.readString(log)).contains("Draining: 1"));
            upstream.release();
            assertThat(answer.get()).isEqualTo(201);
            assertThat(exit.get()).isZero();
        }
    }

    @Test
    @DisplayName("D1 killed while a service works that does not honour keys: unknown, though another service would")
    void killedBetweenTwoKinds() throws Exception {
        Path config = Files.writeString(folder.resolve("gateway.yaml"), """
                listen: {host: 127.0.0.1, port: 0}
                admin: {port: 0}
                upstreams:
                  - {url: %s, honours-key: true}
                  - {name: legacy, url: %s, paths: [/held]}
                defaults: {lease: 3s}
                """.formatted(upstream.url(), upstream.url()));
        try (GatewayProcess gateway = startOne(0, config)) {
            var cut = client.sendAsync(request(gateway, "/held", "k1"), HttpResponse.BodyHandlers.ofString());
            upstream.awaitHeld();
            gateway.kill();
            assertThat(cut).failsWithin(Duration.ofMinutes(1));
        }
        upstream.release();
        try (GatewayProcess gateway = startOne(0, config)) {
            Eventually.eventually(() -> assertThat(
                            client.send(request(gateway, "/held", "k1"), HttpResponse.BodyHandlers.ofString())
                                    .body())
                    .doesNotContain("in_progress"));
            assertThat(post(gateway, "/held", "k1")).isEqualTo(409);
        }
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("S1 killed: the leases that it left are counted as zombies by the one that sweeps them")
    void killedOwnersAreCounted() throws Exception {
        Path config = Files.writeString(folder.resolve("gateway.yaml"), """
                listen: {host: 127.0.0.1, port: 0}
                admin: {port: 0}
                upstreams: [{url: %s}]
                operations: [{method: POST, path: /held}]
                defaults: {lease: 2s}
                """.formatted(upstream.url()));
        try (GatewayProcess gateway = startOne(0, config)) {
            List<CompletableFuture<HttpResponse<String>>> cut = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                cut.add(client.sendAsync(request(gateway, "/held", "k" + i), HttpResponse.BodyHandlers.ofString()));
            }
            upstream.awaitHeld(2);
            gateway.kill();
            cut.forEach(answer -> assertThat(answer).failsWithin(Duration.ofMinutes(1)));
        }
        upstream.release();
        try (GatewayProcess gateway = startOne(0, config)) {
            HttpRequest metrics =
                    HttpRequest.newBuilder(gateway.admin("/metrics")).build();
            Eventually.eventually(() -> assertThat(client.send(metrics, HttpResponse.BodyHandlers.ofString())
                            .body())
                    .contains("api_idempotency_zombie_key_total{operation=\"POST /held\",tenant=\"default\"} 2.0")
                    .contains("\napi_idempotency_reconcile_backlog 2.0"));
        }
    }

    /** A gateway that may be down for a while. */
    private final AtomicReferenceArray<GatewayProcess> gateways = new AtomicReferenceArray<>(GATEWAYS);

    private GatewayProcess startOne(int number, Path config) throws IOException {
        Path log = folder.resolve("log-" + number);
        return GatewayProcess.start(
                log,
                "--config",
                config.toString(),
                "--data",
                folder.resolve("data-" + number).toString());
    }

    @Test
    @DisplayName(
            "D1 three on one database, killed one after the other under a retry storm: nothing runs twice, no key is stuck")
    void storm() throws Exception {
        DatabaseServer postgres = PostgresServer.shared();
        Path config = Files.writeString(
                folder.resolve("gateway.yaml"), """
                listen: {host: 127.0.0.1, port: 0}
                admin: {port: 0}
                upstreams: [{url: %s, response-timeout: 1s}]
                store: {url: '%s'}
                operations:
                  - method: POST
                    path: /pay
                    lease: 3s
                    call-max: 1s
                    look-up:
                      request: GET /lookup/{key}
                      found: {status: 200}
                      absent: {status: 404}
                      answer: {status: 201}
                      absent-after: 1s
                """.formatted(upstream.url(), postgres.createDatabase()));
        for (int i = 0; i < GATEWAYS; i++) {
            gateways.set(i, startOne(i, config));
        }
        Set<String> keys = ConcurrentHashMap.newKeySet();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Future<?>> running = new ArrayList<>();
            boolean[] over = new boolean[1];
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                running.add(clients.submit(() -> storm(number, over, keys)));
            }
            for (int kill = 0; kill < KILLS; kill++) {
                int victim = kill % GATEWAYS;
                LockSupport.parkNanos(1_000_000_000L);
                gateways.get(victim).kill();
                gateways.set(victim, startOne(victim, config));
            }
            synchronized (over) {
                over[0] = true;
            }
            for (Future<?> one : running) {
                one.get();
            }
            // Whatever was left behind is settled within a lease, a sweep and two look-ups.
            for (String key : keys) {
                Eventually.eventually(
                        () -> assertThat(post(gateways.get(0), "/pay", key)).isEqualTo(201));
            }
            assertThat(keys).hasSizeGreaterThan(10);
            for (String key : keys) {
                assertThat(upstream.effects(key)).as(key).isEqualTo(1);
            }
        } finally {
            clients.shutdownNow();
            for (int i = 0; i < GATEWAYS; i++) {
                gateways.get(i).close();
            }
        }
    }

    private Void storm(int number, boolean[] over, Set<String> keys) throws InterruptedException {
        for (int i = 0; ; i++) {
            synchronized (over) {
                if (over[0]) {
                    return null;
                }
            }
            // Two clients share each key, so that duplicates meet.
            String key = "storm-" + number / 2 + "-" + i;
            keys.add(key);
            for (int tries = 0; tries < 5; tries++) {
                GatewayProcess gateway =
                        gateways.get(ThreadLocalRandom.current().nextInt(GATEWAYS));
                try {
                    if (post(gateway, "/pay", key) == 201) {
                        break;
                    }
                } catch (IOException e) {
                    // It was killed, or is not up yet: the next one.
                }
                LockSupport.parkNanos(20_000_000L);
            }
        }
    }
}
