package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An unknown outcome")
class ReconcileTest {
    @TempDir
    Path folder;

    private final Set<String> paid = ConcurrentHashMap.newKeySet();
    private RawUpstream upstream;
    private Running gateway;

    /** Takes the payments of some keys, never answers POST, and tells by GET /payments/KEY what it has. */
    @BeforeEach
    void start() {
        upstream = new RawUpstream((head, socket) -> {
            if (head.startsWith("POST")) {
                String key = head.split("(?i)idempotency-key: ")[1].split("\r\n")[0];
                if (key.startsWith("paid")) {
                    paid.add(key);
                }
                socket.close();
                return;
            }
            String key = head.split(" ")[1].substring("/payments/".length());
            String body = found(key);
            RawUpstream.write(
                    socket,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n"
                            + (key.startsWith("stalls") ? "" : body));
        });
        gateway = Running.start(
                folder, upstream.url(), "upstreams: [{response-timeout: 500ms, url: " + upstream.url() + "}]\n" + """
                operations:
                  - method: POST
                    path: /payments
                    call-max: 500ms
                    look-up:
                      request: GET /payments/{key}
                      found: {status: 200, pointer: /data/0/id}
                      absent: {status: 200, pointer: /data/0, missing: true}
                      answer: {status: 201, pointer: /data/0}
                      absent-after: 500ms
                """);
    }

    private String found(String key) {
        if (key.startsWith("odd")) {
            return "?";
        }
        if (key.startsWith("error")) {
            return "{\"error\":\"timeout\"}";
        }
        if (key.startsWith("flood")) {
            return "{\"data\":[]," + " ".repeat(2 << 20) + "\"more\":0}";
        }
        return "{\"data\":[" + (paid.contains(key) ? "{\"id\":\"" + key + "\"}" : "") + "]}";
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
    }

    private HttpRequest.Builder admin(String path) throws Exception {
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        return HttpRequest.newBuilder(gateway.admin(path)).header("Authorization", "Bearer " + token);
    }

    private long posts(String key) {
        return upstream.heads().stream()
                .filter(head -> head.startsWith("POST") && head.contains(key + "\r\n"))
                .count();
    }

    @Test
    @DisplayName("D6 is found by the look-up: completed, and retries get what was found")
    void found() throws Exception {
        assertThat(gateway.post("/payments", "paid-1", "{}").statusCode()).isEqualTo(504);
        Eventually.eventually(() -> {
            HttpResponse<String> retry = gateway.post("/payments", "paid-1", "{}");
            assertThat(retry.statusCode()).isEqualTo(201);
            assertThat(retry.body()).isEqualTo("{\"id\":\"paid-1\"}");
        });
        assertThat(posts("paid-1")).isEqualTo(1);
    }

    @Test
    @DisplayName("D6 is proven absent by the look-up: the next retry runs")
    void absent() throws Exception {
        assertThat(gateway.post("/payments", "lost-1", "{}").statusCode()).isEqualTo(504);
        assertThat(posts("lost-1")).isEqualTo(1);
        Eventually.eventually(() -> {
            assertThat(gateway.post("/payments", "lost-1", "{}").statusCode()).isEqualTo(504);
        });
        assertThat(posts("lost-1")).isEqualTo(2);
    }

    @Test
    @DisplayName("stays unknown while the look-up says neither, and is settled by a webhook to the admin API")
    void webhook() throws Exception {
        assertThat(gateway.post("/payments", "odd-1", "{}").statusCode()).isEqualTo(504);
        for (int i = 0; i < 10; i++) {
            assertThat(gateway.send(admin("/v1/reconcile/run").POST(HttpRequest.BodyPublishers.noBody()))
                            .body())
                    .isEqualTo("{\"asked\":1,\"found\":0,\"absent\":0,\"undecided\":1,\"withoutLookUp\":0}");
        }
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics")))
                        .body())
                .as("ten times is reason to tell an operator")
                .containsPattern(
                        "api_idempotency_reconcile_failed_total\\{operation=\"[^(][^\"]*\",tenant=\"default\"\\} 1\\.0");
        assertThat(gateway.post("/payments", "odd-1", "{}").body()).contains("outcome_unknown");
        HttpRequest.Builder webhook = admin("/v1/keys/resolve").POST(HttpRequest.BodyPublishers.ofString("""
                        {"key": {"tenant": "default", "key": "odd-1"},
                         "finding": {"outcome": "found", "response": {"status": 200, "body": "done"}, "reason": "webhook"}}
                        """));
        assertThat(gateway.send(webhook).statusCode()).isEqualTo(200);
        assertThat(gateway.send(webhook).statusCode())
                .as("a second one changes nothing")
                .isEqualTo(409);
        assertThat(gateway.post("/payments", "odd-1", "{}").body()).isEqualTo("done");
        assertThat(posts("odd-1")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"error-1", "stalls-1", "flood-1"})
    @DisplayName("D6 stays unknown if the look-up answers with an error in 200, stalls or floods, and holds up nobody")
    void provesNothing(String key) throws Exception {
        assertThat(gateway.post("/payments", key, "{}").statusCode()).isEqualTo(504);
        assertThat(gateway.post("/payments", "paid-1", "{}").statusCode()).isEqualTo(504);
        Eventually.eventually(
                () -> assertThat(gateway.post("/payments", "paid-1", "{}").statusCode())
                        .isEqualTo(201));
        for (int i = 0; i < 2; i++) {
            assertThat(gateway.send(admin("/v1/reconcile/run").POST(HttpRequest.BodyPublishers.noBody()))
                            .body())
                    .isEqualTo("{\"asked\":1,\"found\":0,\"absent\":0,\"undecided\":1,\"withoutLookUp\":0}");
        }
        assertThat(gateway.post("/payments", key, "{}").body()).contains("outcome_unknown");
        assertThat(posts(key)).isEqualTo(1);
    }
}
