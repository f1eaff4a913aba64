package dev.onlyonce.server;

import static dev.onlyonce.server.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway in front of a service")
class GatewayTest {
    @TempDir
    Path folder;

    private CountingUpstream upstream;
    private Running gateway;

    @BeforeEach
    void start() {
        upstream = new CountingUpstream();
    }

    private Running gateway(String yaml) {
        gateway = Running.start(folder, upstream.url(), yaml);
        return gateway;
    }

    @AfterEach
    void stop() {
        upstream.close();
        if (gateway != null) {
            gateway.close();
        }
    }

    @Test
    @DisplayName("R1 answers a retry with the first answer, byte for byte, and executes nothing")
    void replay() throws Exception {
        gateway("");
        HttpResponse<String> first = gateway.post("/payments", "k1", "{\"amount\":1}");
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().firstValue("Idempotency-Key-Expires")).isPresent();
        assertThat(first.headers().firstValue("Set-Cookie")).hasValue("a=b");
        for (int i = 0; i < 3; i++) {
            HttpResponse<String> retry = gateway.post("/payments", "k1", "{ \"amount\": 1.0 }");
            assertThat(retry.statusCode()).isEqualTo(201);
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
            assertThat(retry.headers().firstValue("Set-Cookie")).isEmpty();
        }
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("tells the upstream the key and which attempt it is")
    void attempt() throws Exception {
        gateway("");
        assertThat(gateway.post("/status/503", "k1", "{}").statusCode()).isEqualTo(503);
        assertThat(upstream.header("Idempotency-Attempt")).isEqualTo("1");
        assertThat(gateway.post("/status/503", "k1", "{}").statusCode()).isEqualTo(503);
        assertThat(upstream.header("Idempotency-Attempt")).isEqualTo("2");
        assertThat(upstream.header("Idempotency-Key")).isEqualTo("k1");
        assertThat(upstream.header("X-Forwarded-For")).isEqualTo("127.0.0.1");
    }

    @Test
    @DisplayName(
            "K1 hands the key to the upstream as the client wrote it, also if the client calls it a matter of one hop")
    void keyAsSent() throws Exception {
        gateway("");
        try (Socket socket = gateway.connect()) {
            RawUpstream.write(
                    socket,
                    RawUpstream.lines(
                                    "POST /payments HTTP/1.1",
                                    "Host: a",
                                    "Connection: close, Idempotency-Key",
                                    "Idempotency-Key: \"k1\"",
                                    "Content-Length: 2")
                            + "{}");
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 201");
        }
        assertThat(upstream.header("Idempotency-Key")).isEqualTo("\"k1\"");
    }

    @Test
    @DisplayName("K4 asks for a key on POST and PATCH, and on nothing else")
    void missingKey() throws Exception {
        gateway("");
        HttpRequest.Builder bare = HttpRequest.newBuilder(gateway.url("/payments"));
        HttpResponse<String> refused = gateway.send(bare.copy().POST(HttpRequest.BodyPublishers.ofString("{}")));
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("\"code\":\"key_missing\"");
        assertThat(gateway.send(bare.copy().method("PATCH", HttpRequest.BodyPublishers.ofString("{}")))
                        .statusCode())
                .isEqualTo(400);
        for (String method : List.of("GET", "PUT", "DELETE", "OPTIONS")) {
            assertThat(gateway.send(bare.copy().method(method, HttpRequest.BodyPublishers.noBody()))
                            .statusCode())
                    .as(method)
                    .isEqualTo(201);
        }
    }

    @Test
    @DisplayName("F1 refuses another request with the same key")
    void mismatch() throws Exception {
        gateway("");
        gateway.post("/payments", "k1", "{\"amount\":1}");
        assertThat(gateway.post("/payments", "k1", "{\"amount\":2}").statusCode())
                .isEqualTo(422);
        assertThat(gateway.post("/refunds", "k1", "{\"amount\":1}").statusCode())
                .isEqualTo(422);
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 of 64 simultaneous requests exactly one reaches the service")
    void race() throws Exception {
        gateway("defaults: {wait-max: 30s}");
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            answers.add(gateway.begin("/payments", "k1"));
        }
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            assertThat(answer.get().statusCode()).isEqualTo(201);
            assertThat(answer.get().body()).contains("\"effect\":1");
        }
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("C3 tells a duplicate of a running request to come back, and C4 does not disturb it")
    void inFlight() throws Exception {
        gateway("");
        CompletableFuture<HttpResponse<String>> first = gateway.begin("/held", "k1");
        upstream.awaitHeld();
        HttpResponse<String> second = gateway.post("/held", "k1", "{}");
        assertThat(second.statusCode()).isEqualTo(409);
        assertThat(second.headers().firstValue("Retry-After")).isPresent();
        upstream.release();
        assertThat(first.get().statusCode()).isEqualTo(201);
        assertThat(gateway.post("/held", "k1", "{}").body())
                .isEqualTo(first.get().body());
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("D5 a refused connection is 502 and the next retry runs")
    void refused() throws Exception {
        URI url = upstream.url();
        upstream.close();
        gateway = Running.start(folder, url, "");
        HttpResponse<String> refused = gateway.post("/payments", "k1", "{}");
        assertThat(refused.statusCode()).isEqualTo(502);
        assertThat(refused.body()).contains("\"code\":\"upstream_unreachable\"");
        assertThat(gateway.post("/payments", "k1", "{}").statusCode()).isEqualTo(502);
    }

    @Test
    @DisplayName("R2 treats 5xx and 401 as the profile says")
    void statuses() throws Exception {
        gateway("operations: [{method: POST, path: /status/*}, {method: PATCH, path: /status/*, profile: stripe}]");
        for (int status : new int[] {200, 302, 404, 422}) {
            assertThat(gateway.post("/status/" + status, "k" + status, "{}").statusCode())
                    .isEqualTo(status);
            gateway.post("/status/" + status, "k" + status, "{}");
            assertThat(upstream.effects("k" + status)).as("" + status).isEqualTo(1);
        }
        for (int status : new int[] {401, 429, 500, 503}) {
            gateway.post("/status/" + status, "k" + status, "{}");
            gateway.post("/status/" + status, "k" + status, "{}");
            assertThat(upstream.effects("k" + status)).as("" + status).isEqualTo(2);
        }
        HttpRequest.Builder stripe =
                gateway.request("/status/500", "stripe").method("PATCH", HttpRequest.BodyPublishers.ofString("{}"));
        assertThat(gateway.send(stripe).statusCode()).isEqualTo(500);
        assertThat(gateway.send(stripe).headers().firstValue("Idempotent-Replayed"))
                .hasValue("true");
        assertThat(upstream.effects("stripe")).isEqualTo(1);
    }

    @Test
    @DisplayName("R5 delivers a response over the limit, and never executes it again")
    void large() throws Exception {
        gateway("defaults: {result-bytes-max: 1000}");
        HttpResponse<String> first = gateway.post("/bytes/200000", "k1", "{}");
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.body()).hasSize(200_000);
        HttpResponse<String> retry = gateway.post("/bytes/200000", "k1", "{}");
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(retry.body()).contains("response_not_stored");
        assertThat(retry.headers().firstValue("Location")).hasValue("/things/7");
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("F3 refuses a body over the limit with 413, whether its length was announced or not")
    void bodyTooLarge() throws Exception {
        gateway("defaults: {body-bytes-max: 1000}");
        assertThat(gateway.post("/payments", "k1", "x".repeat(1001)).statusCode())
                .isEqualTo(413);
        HttpRequest.Builder chunked = gateway.request("/payments", "k1")
                .POST(HttpRequest.BodyPublishers.fromPublisher(HttpRequest.BodyPublishers.ofString("x".repeat(1001))));
        assertThat(gateway.send(chunked).statusCode()).isEqualTo(413);
        assertThat(gateway.post("/payments", "k1", "\"" + "x".repeat(998) + "\"")
                        .statusCode())
                .isEqualTo(201);
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("finishes an exchange whose client hung up")
    void clientGone() throws Exception {
        gateway("");
        CompletableFuture<HttpResponse<String>> first = gateway.begin("/held", "k1");
        upstream.awaitHeld();
        first.cancel(true);
        upstream.release();
        Eventually.eventually(
                () -> assertThat(gateway.post("/held", "k1", "{}").statusCode()).isEqualTo(201));
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("drains: what is under way is answered, what comes later is not taken, and no claim is left behind")
    void drain() throws Exception {
        gateway("");
        CompletableFuture<HttpResponse<String>> first = gateway.begin("/held", "k1");
        upstream.awaitHeld();
        CompletableFuture<Void> drained = CompletableFuture.runAsync(gateway::drain);
        Eventually.eventually(
                () -> assertThatThrownBy(() -> gateway.connect().close()).isInstanceOf(ConnectException.class));
        upstream.release();
        assertThat(first.get().statusCode()).isEqualTo(201);
        drained.get();
        gateway.close();
        gateway = Running.start(folder, upstream.url(), "");
        HttpResponse<String> retry = gateway.post("/held", "k1", "{}");
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
    }

    @Test
    @DisplayName("drains in bounded time: what the service does not answer is recorded as unknown")
    void drainTimeout() throws Exception {
        gateway("listen: {host: 127.0.0.1, port: 0, drain-timeout: 200ms}");
        CompletableFuture<HttpResponse<String>> first = gateway.begin("/held", "k1");
        upstream.awaitHeld();
        gateway.close();
        first.handle((answer, failure) -> answer).get();
        gateway = Running.start(folder, upstream.url(), "");
        HttpResponse<String> retry = gateway.post("/held", "k1", "{}");
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(retry.body()).contains("outcome_unknown");
    }

    @Test
    @DisplayName("drains: a request whose body is still coming is answered too, and no claim of it is left behind")
    void drainWhileTheBodyComes() throws Exception {
        gateway("listen: {host: 127.0.0.1, port: 0, drain-timeout: 5s}");
        CompletableFuture<Void> drained;
        try (Socket socket = gateway.connect()) {
            RawUpstream.write(
                    socket,
                    RawUpstream.lines(
                                    "POST /held HTTP/1.1",
                                    "Host: localhost",
                                    "Idempotency-Key: k1",
                                    "Content-Type: application/json",
                                    "Content-Length: 2",
                                    "Expect: 100-continue")
                            + "{");
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 100");
            drained = CompletableFuture.runAsync(gateway::drain);
            Eventually.eventually(
                    () -> assertThatThrownBy(() -> gateway.connect().close()).isInstanceOf(ConnectException.class));
            RawUpstream.write(socket, "}");
            upstream.awaitHeld();
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 504");
        }
        drained.get();
        gateway.close();
        upstream.release();
        gateway = Running.start(folder, upstream.url(), "");
        assertThat(gateway.post("/held", "k1", "{}").body()).contains("outcome_unknown");
    }

    @Test
    @DisplayName("publishes how its keys work, and the status of one")
    void ownResources() throws Exception {
        gateway("");
        gateway.post("/payments", "k1", "{}");
        assertThat(gateway.get("/.well-known/idempotency").body()).contains("\"keyRequired\":true");
        HttpResponse<String> status =
                gateway.send(HttpRequest.newBuilder(gateway.url("/.well-known/idempotency/status"))
                        .header("Idempotency-Key", "k1"));
        assertThat(status.body()).contains("\"state\":\"completed\"");
    }

    @Test
    @DisplayName("answers HEAD for what it publishes as it answers GET, without the body, and the service is not asked")
    void headOfOwnResources() throws Exception {
        gateway("");
        gateway.post("/payments", "k1", "{}");
        isHeadOf("/.well-known/idempotency", "k1", 200);
        isHeadOf("/.well-known/idempotency/status", "k1", 200);
        isHeadOf("/.well-known/idempotency/status", "k2", 404);
    }

    private void isHeadOf(String path, String key, int status) throws Exception {
        HttpResponse<String> whole = gateway.send(gateway.request(path, key).GET());
        HttpResponse<String> head =
                gateway.send(gateway.request(path, key).method("HEAD", HttpRequest.BodyPublishers.noBody()));
        assertThat(head.statusCode()).isEqualTo(whole.statusCode()).isEqualTo(status);
        assertThat(head.headers().map()).isEqualTo(whole.headers().map());
        assertThat(head.headers().firstValueAsLong("Content-Length"))
                .hasValue(whole.body().getBytes(StandardCharsets.UTF_8).length);
        assertThat(head.body()).isEmpty();
    }

    @Test
    @DisplayName("D11 that finds an entry which makes no sense refuses its key as if the store were down, and goes on")
    void senselessEntry() throws Exception {
        gateway("");
        gateway.post("/payments", "k1", "{}");
        gateway.close();
        try (Connection connection = DriverManager.getConnection(
                        "jdbc:sqlite:" + gateway.data().resolve("onlyonce.db"));
                Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA ignore_check_constraints = ON");
            assertThat(statement.executeUpdate("UPDATE onlyonce_entry SET state = 99 WHERE fingerprint_version > 0"))
                    .isEqualTo(1);
        }
        gateway("");
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> failed = gateway.post("/payments", "k1", "{}");
            assertThat(failed.statusCode()).isEqualTo(503);
            assertThat(failed.body()).contains("store_unavailable").doesNotContain("Exception");
        }
        assertThat(gateway.post("/payments", "k2", "{}").statusCode()).isEqualTo(201);
        eventually(() -> assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics")))
                        .body())
                .contains("\ngateway_exchanges 0.0"));
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("does not start in a directory whose files others could replace, and says what to do")
    void openDirectory() throws Exception {
        Path data = Files.createDirectory(folder.resolve("data"));
        for (String open : List.of("rwxrwx---", "rwx---rwx")) {
            Files.setPosixFilePermissions(data, PosixFilePermissions.fromString(open));
            assertThatThrownBy(() -> gateway(""))
                    .as(open)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("run: chmod 700 " + data);
            assertThat(data).isEmptyDirectory();
        }
        Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(gateway("").post("/payments", "k1", "{}").statusCode()).isEqualTo(201);
    }
}
