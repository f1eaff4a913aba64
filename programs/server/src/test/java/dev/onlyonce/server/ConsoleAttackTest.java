package dev.onlyonce.server;

import static dev.onlyonce.server.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The console's server")
class ConsoleAttackTest extends AdminFixture {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int DOUBTS = 40;
    private static final int SLOW = 30;

    private String credential() throws IOException {
        return Files.readString(gateway.data().resolve("admin-token")).strip();
    }

    private HttpResponse<String> logIn(String cookie) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(gateway.admin("/console/v1/session"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"name\":\"anna\",\"credential\":\"" + credential() + "\"}"));
        return gateway.send(cookie.isEmpty() ? request : request.header("Cookie", cookie));
    }

    private static String cookie(HttpResponse<String> answer) {
        String set = answer.headers().firstValue("Set-Cookie").orElseThrow();
        return set.substring(0, set.indexOf(';'));
    }

    private int overview(String cookie) throws Exception {
        return gateway.send(HttpRequest.newBuilder(gateway.admin("/console/v1/overview"))
                        .header("Cookie", cookie))
                .statusCode();
    }

    private JsonNode get(String path) throws Exception {
        HttpResponse<String> answer = gateway.send(admin("/v1" + path));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    private List<String> doubt(int count) throws Exception {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            gateway.post("/broken/pay", "lost-" + i, "{}");
            keys.add("{\"tenant\":\"default\",\"key\":\"lost-" + i + "\",\"attempt\":1}");
        }
        return keys;
    }

    private HttpRequest.Builder resolve(List<String> keys, String outcome) throws Exception {
        String body = "{\"keys\":[" + String.join(",", keys) + "],\"finding\":{\"outcome\":\"" + outcome
                + "\",\"reason\":\"" + outcome + "\"}}";
        return admin("/v1/reconcile/resolve").POST(HttpRequest.BodyPublishers.ofString(body));
    }

    @Test
    @DisplayName("O2 refuses what can be read in two ways: members and parameters that stand twice, broken encodings")
    void ambiguous() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        String twice = "{\"key\":{\"tenant\":\"default\",\"key\":\"other\",\"key\":\"order-1\"},\"reason\":\"x\"}";
        assertThat(gateway.send(admin("/v1/keys/evict").POST(HttpRequest.BodyPublishers.ofString(twice)))
                        .statusCode())
                .isEqualTo(400);
        for (String query : List.of("tenant=a&tenant=default", "tenant=%FF", "tenant=%C3", "state=%EF%BF")) {
            HttpResponse<String> answer = gateway.send(admin("/v1/keys?" + query));
            assertThat(answer.statusCode()).as(query).isEqualTo(400);
        }
        assertThat(gateway.send(admin("/v1/keys?tenant=%EF%BF%BD")).statusCode())
                .isEqualTo(200);
        assertThat(get("/keys").get("keys")).hasSize(1);
    }

    @Test
    @DisplayName("S2 takes no reason and no note that nobody can see")
    void invisible() throws Exception {
        gateway.post("/broken/pay", "lost", "{}");
        for (String nothing : List.of(" ", "\\u200b\\u2060", "\\u00a0\\ufeff", "\\u0000\\u202e", "\\u3000\\n")) {
            String key = "{\"key\":{\"tenant\":\"default\",\"key\":\"lost\"},";
            for (String body : List.of(
                    "/v1/keys/note " + key + "\"text\":\"" + nothing + "\"}",
                    "/v1/keys/evict " + key + "\"reason\":\"" + nothing + "\"}",
                    "/v1/keys/resolve " + key + "\"finding\":{\"outcome\":\"found\",\"reason\":\"" + nothing
                            + "\"}}")) {
                String[] call = body.split(" ", 2);
                HttpResponse<String> answer =
                        gateway.send(admin(call[0]).POST(HttpRequest.BodyPublishers.ofString(call[1])));
                assertThat(answer.statusCode()).as(body).isEqualTo(400);
            }
        }
        assertThat(get("/keys/show?tenant=default&key=lost").get("state").asText())
                .isEqualTo("unknown");
    }

    @Test
    @DisplayName("O2 takes no session's id from outside, and a login ends the session before it")
    void fixation() throws Exception {
        String planted = "onlyonce-session=" + "A".repeat(43);
        String first = cookie(logIn(planted));
        assertThat(first).isNotEqualTo(planted);
        assertThat(overview(planted)).isEqualTo(401);
        String second = cookie(logIn(first));
        assertThat(overview(second)).isEqualTo(200);
        assertThat(overview(first)).isEqualTo(401);
    }

    @Test
    @DisplayName("S5 lets no other site ask: nothing is allowed beforehand, and no session is shown to its scripts")
    void preflight() throws Exception {
        for (String method : List.of("OPTIONS", "TRACE", "PUT", "HEAD")) {
            HttpResponse<String> answer = gateway.send(HttpRequest.newBuilder(gateway.admin("/console/v1/keys"))
                    .header("Origin", "https://evil.example")
                    .header("Access-Control-Request-Method", "POST")
                    .method(method, HttpRequest.BodyPublishers.noBody()));
            assertThat(answer.statusCode()).as(method).isIn(401, 403, 404, 405);
            assertThat(answer.headers().map().keySet())
                    .as(method)
                    .noneMatch(name -> name.toLowerCase(java.util.Locale.ROOT).startsWith("access-control"));
        }
        String cookie = cookie(logIn(""));
        for (String site : List.of("same-site", "cross-site")) {
            HttpResponse<String> answer = gateway.send(HttpRequest.newBuilder(gateway.admin("/console/v1/session"))
                    .header("Cookie", cookie)
                    .header("Sec-Fetch-Site", site));
            assertThat(answer.body()).as("a page at another port of this host").doesNotContain("csrf");
        }
    }

    @Test
    @DisplayName(
            "D6 S2 lets two operators settle the same keys at once: each key is decided once, and each learns which it"
                    + " decided")
    void rivals() throws Exception {
        List<String> keys = doubt(DOUBTS);
        CompletableFuture<HttpResponse<String>> one =
                gateway.client().sendAsync(resolve(keys, "found").build(), HttpResponse.BodyHandlers.ofString());
        CompletableFuture<HttpResponse<String>> other =
                gateway.client().sendAsync(resolve(keys, "absent").build(), HttpResponse.BodyHandlers.ofString());
        JsonNode found = JSON.readTree(one.join().body()).get("results");
        JsonNode absent = JSON.readTree(other.join().body()).get("results");
        for (int i = 0; i < DOUBTS; i++) {
            boolean isFound = found.get(i).get("done").asBoolean();
            assertThat(absent.get(i).get("done").asBoolean()).as("lost-" + i).isNotEqualTo(isFound);
            String history = get("/keys/history?tenant=default&key=lost-" + i).toString();
            assertThat(history).contains("\"why\":\"" + (isFound ? "found" : "absent") + "\"");
            assertThat(history).doesNotContain("\"why\":\"" + (isFound ? "absent" : "found") + "\"");
        }
    }

    @Test
    @DisplayName(
            "D6 is restarted in the middle of a list of decisions: the rest can be settled, what was settled stays")
    void restarted() throws Exception {
        List<String> keys = doubt(4);
        String session = cookie(logIn(""));
        String ref = get("/keys/show?tenant=default&key=lost-3").get("ref").asText();
        assertThat(gateway.send(resolve(keys.subList(0, 2), "found")).statusCode())
                .isEqualTo(200);
        gateway.close();
        gateway = Running.start(folder, upstream.url(), "");
        assertThat(overview(session)).as("sessions end").isEqualTo(401);
        assertThat(get("/keys/show?ref=" + ref).get("state").asText())
                .as("an operator's links lead to their keys")
                .isEqualTo("unknown");
        JsonNode results =
                JSON.readTree(gateway.send(resolve(keys, "absent")).body()).get("results");
        assertThat(results.findValuesAsText("done")).containsExactly("false", "false", "true", "true");
        assertThat(results.get(0).get("detail").asText()).contains("completed");
    }

    @Test
    @DisplayName("D9 says what is wrong while its store does not answer, refuses changes, and goes on by itself")
    void storeDown() throws Exception {
        List<String> keys = doubt(1);
        String url = "jdbc:sqlite:" + gateway.data().resolve("onlyonce.db");
        try (Connection other = DriverManager.getConnection(url);
                Statement statement = other.createStatement()) {
            statement.execute("ALTER TABLE onlyonce_entry RENAME TO elsewhere");
            eventually(() -> {
                JsonNode everybody = get("/overview").get("everybody");
                assertThat(everybody.get("store").get("healthy").asBoolean()).isFalse();
                assertThat(everybody.get("store").get("detail").asText()).isNotEmpty();
                assertThat(everybody.has("states")).isFalse();
            });
            HttpResponse<String> list = gateway.send(admin("/v1/keys"));
            assertThat(list.statusCode()).isEqualTo(503);
            assertThat(list.body()).contains("\"retry\":true");
            assertThat(get("/tenants").get("tenants").get(0).get("created").asInt())
                    .as("what the node knows by itself is still shown")
                    .isEqualTo(1);
            JsonNode result =
                    JSON.readTree(gateway.send(resolve(keys, "absent")).body()).get("results");
            assertThat(result.get(0).get("done").asBoolean()).isFalse();
            assertThat(result.get(0).get("detail").asText()).contains("store");
            statement.execute("ALTER TABLE elsewhere RENAME TO onlyonce_entry");
        }
        eventually(() -> assertThat(get("/overview")
                        .get("everybody")
                        .get("store")
                        .get("healthy")
                        .asBoolean())
                .isTrue());
        eventually(() -> assertThat(
                        JSON.readTree(gateway.send(resolve(keys, "absent")).body())
                                .get("results")
                                .get(0)
                                .get("done")
                                .asBoolean())
                .isTrue());
    }

    @Test
    @DisplayName("D11 is not held up by clients that begin a login and never end it")
    void slowClients() throws Exception {
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW; i++) {
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), gateway.admin("").getPort());
                slow.add(socket);
                socket.getOutputStream()
                        .write(("POST /console/v1/session HTTP/1.1\r\nHost: localhost\r\n"
                                        + "Content-Type: application/json\r\nContent-Length: 8000\r\n\r\n{")
                                .getBytes(StandardCharsets.US_ASCII));
            }
            assertThat(overview(cookie(logIn("")))).isEqualTo(200);
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    @Test
    @DisplayName("answers a key that has not changed with 304, though its clock goes on")
    void unchanged() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        HttpRequest.Builder key = admin("/v1/keys/show?tenant=default&key=order-1");
        HttpResponse<String> first = gateway.send(key);
        String tag = first.headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> again = gateway.send(key.header("If-None-Match", tag));
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.headers().firstValue("Onlyonce-Now")).isPresent();
        assertThat(again.headers().firstValue("Server-Timing").orElseThrow()).startsWith("work;dur=");
    }
}
