package dev.onlyonce.server;

import static dev.onlyonce.server.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("SIGHUP")
class ReloadTest {
    private static final String START = """
        operations: [{method: POST, path: /payments}, {method: POST, path: /held}]
        tenants: {api-key: {header: X-Api-Key, sha256: {%s: acme}}}
        """.formatted(TenantsTest.sha256("one"));
    private static final String LATER = """
        operations: [{method: POST, path: /payments}, {method: POST, path: /held}, {method: POST, path: /orders}]
        unmatched: refuse
        limits: {stored-max: 100000}
        tenants: {api-key: {header: X-Api-Key, sha256: {%s: acme, %s: other}}}
        """.formatted(TenantsTest.sha256("one"), TenantsTest.sha256("two"));
    private static final int CLIENTS = 4;

    @TempDir
    Path folder;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private CountingUpstream upstream;
    private Path file;
    private Path log;
    private SelfSigned first;

    @BeforeEach
    void prepare() throws Exception {
        upstream = new CountingUpstream();
        first = SelfSigned.in(folder);
        file = folder.resolve("gateway.yaml");
        log = folder.resolve("log");
    }

    @AfterEach
    void stop() {
        upstream.close();
        threads.shutdownNow();
    }

    private void write(String rest) throws IOException {
        Files.writeString(file, """
            upstreams: [{url: %s}]
            listen: {host: 127.0.0.1, port: 0, tls: {certificate: cert.pem, key: key.pem}}
            admin: {port: 0}
            """.formatted(upstream.url()) + rest);
    }

    private GatewayProcess start() throws IOException {
        return GatewayProcess.start(log, "--config", file.toString());
    }

    private void awaitLog(String text) throws Exception {
        eventually(() -> assertThat(Files.readString(log)).contains(text));
    }

    private static HttpClient trusting(SelfSigned certificate) {
        return HttpClient.newBuilder().sslContext(certificate.trusting()).build();
    }

    private static int post(HttpClient client, GatewayProcess gateway, String path, String key, String tenant)
            throws Exception {
        return client.send(
                        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + gateway.port() + path))
                                .header("Idempotency-Key", key)
                                .header("X-Api-Key", tenant)
                                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    /** The certificate that a new connection is shown. */
    private static X509Certificate shown(SelfSigned trusted, GatewayProcess gateway) throws IOException {
        try (SSLSocket socket =
                (SSLSocket) trusted.trusting().getSocketFactory().createSocket("127.0.0.1", gateway.port())) {
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    @Test
    @DisplayName("takes over certificate, tenants, limits and operations; no request fails and no connection ends")
    void reloads() throws Exception {
        write(START);
        try (GatewayProcess gateway = start()) {
            HttpClient before = trusting(first);
            assertThat(post(before, gateway, "/payments", "k1", "two")).isEqualTo(401);
            CompletableFuture<Integer> held = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return post(before, gateway, "/held", "held-1", "one");
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    threads);
            upstream.awaitHeld();
            AtomicBoolean over = new AtomicBoolean();
            Queue<String> failures = new ConcurrentLinkedQueue<>();
            AtomicInteger served = new AtomicInteger();
            List<CompletableFuture<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                String name = "client-" + i;
                HttpClient own = trusting(first);
                clients.add(
                        CompletableFuture.runAsync(() -> load(own, gateway, name, over, served, failures), threads));
            }
            eventually(() -> assertThat(served.get()).isGreaterThan(50));
            SelfSigned second = SelfSigned.in(Files.createDirectory(folder.resolve("second")));
            Files.copy(second.certificate(), first.certificate(), StandardCopyOption.REPLACE_EXISTING);
            Files.copy(second.key(), first.key(), StandardCopyOption.REPLACE_EXISTING);
            write(LATER);
            gateway.hangUp();
            awaitLog("Reloaded: 3 operations");
            int then = served.get();
            eventually(() -> assertThat(served.get()).isGreaterThan(then + 50));
            over.set(true);
            CompletableFuture.allOf(clients.toArray(CompletableFuture[]::new)).get();
            assertThat(failures).isEmpty();
            upstream.release();
            assertThat(held.get()).as("a request under way").isEqualTo(201);
            assertThat(post(before, gateway, "/payments", "k2", "one"))
                    .as("a connection from before")
                    .isEqualTo(201);
            shown(second, gateway).verify(shown(second, gateway).getPublicKey());
            HttpClient after = trusting(second);
            assertThat(post(after, gateway, "/payments", "k3", "two")).isEqualTo(201);
            assertThat(post(after, gateway, "/orders", "k4", "two")).isEqualTo(201);
            assertThat(post(after, gateway, "/orders", "k4", "two")).isEqualTo(201);
            assertThat(upstream.effects("k4")).as("protected now").isEqualTo(1);
            assertThat(post(after, gateway, "/elsewhere", "k5", "two")).isEqualTo(403);
        }
    }

    private static void load(
            HttpClient client,
            GatewayProcess gateway,
            String name,
            AtomicBoolean over,
            AtomicInteger served,
            Queue<String> failures) {
        for (int i = 0; !over.get(); i++) {
            try {
                int status = post(client, gateway, "/payments", name + "-" + i, "one");
                if (status != 201) {
                    failures.add(name + "-" + i + " got " + status);
                }
                served.incrementAndGet();
            } catch (Exception e) {
                failures.add(name + "-" + i + " failed: " + e);
            }
        }
    }

    @Test
    @DisplayName("keeps what is in use if the file is wrong or asks for a restart, and says where and what")
    void refuses() throws Exception {
        write(START);
        try (GatewayProcess gateway = start()) {
            HttpClient client = trusting(first);
            Map<String, String> wrong = Map.of(
                    "operations:\n  - {metod: POST, path: /payments}\n",
                    "gateway.yaml:5: ",
                    START.replace("X-Api-Key", "X-Key"),
                    "where requests say whose they are",
                    START + "cache: {}\n",
                    "gateway.yaml:",
                    START + "node: another\n",
                    "node changed, which takes effect with a restart only");
            for (Map.Entry<String, String> one : wrong.entrySet()) {
                write(one.getKey());
                int times = Files.readString(log).split("stays in use", -1).length;
                gateway.hangUp();
                eventually(() -> assertThat(Files.readString(log).split("stays in use", -1))
                        .hasSize(times + 1));
                assertThat(Files.readString(log)).contains(one.getValue());
            }
            write(LATER);
            Files.writeString(first.certificate(), "nothing");
            gateway.hangUp();
            awaitLog("is not a certificate in PEM");
            assertThat(post(client, gateway, "/payments", "k1", "two")).isEqualTo(401);
            assertThat(post(client, gateway, "/payments", "k1", "one")).isEqualTo(201);
            assertThat(gateway.isAlive()).isTrue();
        }
    }
}
