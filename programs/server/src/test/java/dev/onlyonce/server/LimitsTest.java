package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The limits of a gateway")
class LimitsTest {
    @TempDir
    Path folder;

    @Test
    @DisplayName("S3 a tenant gets so many new keys a second, and 429 past it; retries are not counted")
    void newKeys() throws Exception {
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), "limits: {new-keys-per-second: 1}")) {
            assertThat(gateway.post("/payments", "first", "{}").statusCode()).isEqualTo(201);
            List<HttpResponse<String>> refused = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                HttpResponse<String> answer = gateway.post("/payments", "k" + i, "{}");
                if (answer.statusCode() == 429) {
                    refused.add(answer);
                    assertThat(upstream.effects("k" + i)).isZero();
                }
            }
            assertThat(refused)
                    .isNotEmpty()
                    .allSatisfy(answer -> assertThat(answer.headers().firstValue("Retry-After"))
                            .isPresent());
            assertThat(gateway.post("/payments", "first", "{}").statusCode()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("R5 an answer over the limit reaches a client that reads slowly but steadily, past the idle time-out")
    void slowReaderOfLargeAnswer() throws Exception {
        int length = 13_000_000;
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.body(head, socket);
                    RawUpstream.write(socket, "HTTP/1.1 201 Created\r\nContent-Length: " + length + "\r\n\r\n");
                    socket.getOutputStream().write(new byte[length]);
                });
                Running gateway = Running.start(folder, upstream.url(), """
                        listen: {host: 127.0.0.1, port: 0, idle-timeout: 1s}
                        defaults: {result-bytes-max: 12MiB}
                        """);
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(16 << 10);
            socket.setSoTimeout(20_000);
            socket.connect(new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), gateway.gateway().port()));
            RawUpstream.write(
                    socket,
                    RawUpstream.lines("POST /big HTTP/1.1", "Host: a", "Idempotency-Key: k", "Content-Length: 0"));
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 201");
            int received = 0;
            while (received < length) {
                int read = socket.getInputStream().readNBytes(Math.min(150_000, length - received)).length;
                assertThat(read).isPositive();
                received += read;
                LockSupport.parkNanos(50_000_000);
            }
        }
    }

    @Test
    @DisplayName("S3 a tenant has so many requests running, and asks for the status of keys so often")
    void liveAndLookUps() throws Exception {
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway =
                        Running.start(folder, upstream.url(), "limits: {live-max: 1, look-ups-per-second: 1}")) {
            CompletableFuture<HttpResponse<String>> running = gateway.begin("/held", "k1");
            upstream.awaitHeld();
            assertThat(gateway.post("/payments", "k2", "{}").statusCode()).isEqualTo(429);
            upstream.release();
            assertThat(running.get().statusCode()).isEqualTo(201);
            assertThat(gateway.post("/payments", "k2", "{}").statusCode()).isEqualTo(201);
            HttpRequest.Builder status =
                    gateway.request("/.well-known/idempotency/status", "k1").GET();
            Eventually.eventually(
                    () -> assertThat(gateway.send(status).statusCode()).isEqualTo(429));
        }
    }

    @Test
    @DisplayName("S3 a burst of requests runs no more of them at once than live-max, and the end of those makes room")
    void burst() throws Exception {
        int burst = 60;
        int live = 5;
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), "limits: {live-max: " + live + "}")) {
            List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
            CountDownLatch refused = new CountDownLatch(burst - live);
            for (int i = 0; i < burst; i++) {
                sent.add(gateway.begin("/held", "k" + i).whenComplete((answer, failure) -> refused.countDown()));
            }
            boolean limited = refused.await(30, TimeUnit.SECONDS);
            upstream.release();
            Map<Integer, Integer> answers = new TreeMap<>();
            for (CompletableFuture<HttpResponse<String>> answer : sent) {
                answers.merge(answer.get(60, TimeUnit.SECONDS).statusCode(), 1, Integer::sum);
            }
            assertThat(answers).isEqualTo(Map.of(201, live, 429, burst - live));
            assertThat(limited).as("refused while the others ran").isTrue();
            for (int i = 0; i < 2 * live; i++) {
                assertThat(gateway.post("/payments", "next" + i, "{}").statusCode())
                        .isEqualTo(201);
            }
        }
    }

    @Test
    @DisplayName("S3 a tenant has no more keys in the store than stored-max, and its retries are still answered")
    void stored() throws Exception {
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), "limits: {stored-max: 3}")) {
            assertThat(gateway.post("/payments", "first", "{}").statusCode()).isEqualTo(201);
            for (int i = 0; i < 10; i++) {
                gateway.post("/payments", "k" + i, "{}");
            }
            HttpResponse<String> refused = gateway.post("/payments", "one-more", "{}");
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.body()).contains("too_many_stored");
            assertThat(gateway.post("/payments", "first", "{}").statusCode()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("an upstream gets no more connections than allowed; who cannot wait for one is told that nothing ran")
    void pool() throws Exception {
        String yaml = "upstreams: [{url: %s, connections-max: 1, queue-max: 0}]";
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), yaml.formatted(upstream.url()))) {
            List<CompletableFuture<HttpResponse<String>>> running = new ArrayList<>();
            // One connection on each event loop; more clients than event loops.
            int clients = 4 * Runtime.getRuntime().availableProcessors();
            for (int i = 0; i < clients; i++) {
                running.add(gateway.begin("/held", "k" + i));
            }
            upstream.awaitHeld();
            CompletableFuture<?>[] refused = running.toArray(CompletableFuture[]::new);
            CompletableFuture.anyOf(refused).get(60, TimeUnit.SECONDS);
            upstream.release();
            int executed = 0;
            for (int i = 0; i < clients; i++) {
                int status = running.get(i).get(60, TimeUnit.SECONDS).statusCode();
                assertThat(status).isIn(201, 502);
                assertThat(upstream.effects("k" + i)).isEqualTo(status == 201 ? 1 : 0);
                executed += status == 201 ? 1 : 0;
            }
            assertThat(executed).isBetween(1, clients - 1);
        }
    }

    @Test
    @DisplayName("D5 an upstream that cannot be connected to in time is retryable: nothing was sent")
    void connectTimeout() throws Exception {
        // A listener whose backlog is full accepts nobody.
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<Socket> waiting = new ArrayList<>();
            URI url = URI.create("http://127.0.0.1:" + deaf.getLocalPort());
            fill(deaf, waiting);
            try (Running gateway =
                    Running.start(folder, url, "upstreams: [{url: " + url + ", connect-timeout: 300ms}]")) {
                HttpResponse<String> answer = gateway.post("/payments", "k1", "{}");
                assertThat(answer.statusCode()).isEqualTo(502);
                assertThat(answer.body()).contains("upstream_unreachable");
                assertThat(gateway.get("/things").statusCode()).isIn(502, 504);
            } finally {
                for (Socket socket : waiting) {
                    socket.close();
                }
            }
        }
    }

    private static void fill(ServerSocket deaf, List<Socket> waiting) throws IOException {
        for (int i = 0; i < 100; i++) {
            Socket socket = new Socket();
            waiting.add(socket);
            try {
                socket.connect(deaf.getLocalSocketAddress(), 200);
            } catch (SocketTimeoutException full) {
                return;
            }
        }
        throw new AssertionError("the backlog does not fill");
    }

    @Test
    @DisplayName("clients together pin a bounded amount of memory: 503 past it, until others have ended")
    void memory() throws Exception {
        String body = "\"" + "x".repeat(40_000) + "\"";
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(
                        folder, upstream.url(), "listen: {host: 127.0.0.1, port: 0, buffer-bytes-max: 192KiB}")) {
            // Again from the beginning if the second was quicker than the first: then it is the first that is refused.
            Eventually.eventually(() -> {
                try (Socket socket = gateway.connect()) {
                    RawUpstream.write(
                            socket,
                            RawUpstream.lines(
                                            "POST /payments HTTP/1.1",
                                            "Host: a",
                                            "Idempotency-Key: slow",
                                            "Content-Length: 50000")
                                    + body);
                    HttpResponse<String> refused = gateway.post("/payments", "k1", body);
                    assertThat(refused.statusCode()).isEqualTo(503);
                    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
                }
            });
            Eventually.eventually(
                    () -> assertThat(gateway.post("/payments", "k2", body).statusCode())
                            .isEqualTo(201));
            assertThat(gateway.post("/bytes/100000", "k3", "{}").body())
                    .as("what was executed is delivered")
                    .hasSize(100_000);
            assertThat(gateway.post("/bytes/100000", "k3", "{}").body()).contains("response_not_stored");
            assertThat(gateway.post("/payments", "k4", body).statusCode())
                    .as("all of it was given back")
                    .isEqualTo(201);
        }
    }

    @Test
    @DisplayName("a connection that became a tunnel counts until it is closed, and no longer")
    void tunnels() throws Exception {
        String agreed = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    if (head.contains("/ws")) {
                        RawUpstream.write(socket, agreed);
                        socket.getInputStream().read();
                        socket.close();
                    } else {
                        RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                    }
                });
                Running gateway = Running.start(
                        folder, upstream.url(), "listen: {host: 127.0.0.1, port: 0, connections-max: 1}")) {
            for (int i = 0; i < 2; i++) {
                Eventually.eventually(() -> {
                    try (Socket socket = gateway.connect()) {
                        RawUpstream.write(
                                socket,
                                RawUpstream.lines(
                                        "GET /ws HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: websocket"));
                        assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 101");
                    }
                });
            }
            Eventually.eventually(
                    () -> assertThat(gateway.get("/things").statusCode()).isEqualTo(200));
        }
    }

    @Test
    @DisplayName("an unprotected answer may take longer than the response time-out as long as bytes come")
    void slowIsNotLate() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        String yaml = "upstreams: [{url: %s, response-timeout: 2s, idle-timeout: 20s}]";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n");
                    for (int i = 0; i < 25; i++) {
                        RawUpstream.write(socket, "x");
                        never.await(100, TimeUnit.MILLISECONDS);
                    }
                });
                Running gateway = Running.start(folder, upstream.url(), yaml.formatted(upstream.url()))) {
            assertThat(gateway.get("/slow").body()).isEqualTo("x".repeat(25));
        }
    }

    @Test
    @DisplayName("a client may take an unprotected answer more slowly than the idle time-out of the service")
    void slowReader() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        int bytes = 32 << 20;
        String yaml = "upstreams: [{url: %s, idle-timeout: 500ms}]";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: " + bytes + "\r\n\r\n");
                    socket.getOutputStream().write(new byte[bytes]);
                });
                Running gateway = Running.start(folder, upstream.url(), yaml.formatted(upstream.url()));
                Socket socket = gateway.connect()) {
            RawUpstream.write(socket, "GET /down HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 200");
            never.await(2, TimeUnit.SECONDS);
            assertThat(socket.getInputStream().readNBytes(bytes)).hasSize(bytes);
        }
    }

    @Test
    @DisplayName("an unprotected request may take longer than the response time-out as long as bytes come")
    void slowUpload() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        String yaml = "upstreams: [{url: %s, response-timeout: 1s, idle-timeout: 20s}]";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    if (socket.getInputStream().readNBytes(20).length == 20) {
                        RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nall");
                    }
                    never.await();
                });
                Running gateway = Running.start(folder, upstream.url(), yaml.formatted(upstream.url()));
                Socket socket = gateway.connect()) {
            RawUpstream.write(socket, "PUT /up HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n");
            for (int i = 0; i < 20; i++) {
                RawUpstream.write(socket, "x");
                never.await(100, TimeUnit.MILLISECONDS);
            }
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    @DisplayName("an unprotected request that came whole is answered by 504 when the service does not")
    void uploadUnanswered() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        String yaml = "upstreams: [{url: %s, response-timeout: 500ms, idle-timeout: 60s}]";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> never.await());
                Running gateway = Running.start(folder, upstream.url(), yaml.formatted(upstream.url()))) {
            assertThat(gateway.send(HttpRequest.newBuilder(gateway.url("/up"))
                                    .PUT(HttpRequest.BodyPublishers.ofString("all")))
                            .statusCode())
                    .isEqualTo(504);
        }
    }

    @Test
    @DisplayName("an unprotected answer that stops coming is cut off after the idle time-out")
    void idle() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        String yaml = "upstreams: [{url: %s, idle-timeout: 2s}]";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nx");
                    never.await();
                });
                Running gateway = Running.start(folder, upstream.url(), yaml.formatted(upstream.url()))) {
            assertThatThrownBy(() -> gateway.get("/stops")).isInstanceOf(IOException.class);
        }
    }
}
