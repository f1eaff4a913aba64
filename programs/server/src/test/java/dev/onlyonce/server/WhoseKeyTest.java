package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.config.Tenancy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Without tenants, a key")
class WhoseKeyTest {
    private static final String STATUS = "/.well-known/idempotency/status";

    @TempDir
    Path folder;

    private CountingUpstream upstream;
    private Running gateway;

    @BeforeEach
    void start() {
        upstream = new CountingUpstream();
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
    }

    private void begin(String yaml) {
        gateway = Running.start(folder, upstream.url(), yaml);
    }

    private int post(String... headers) throws Exception {
        HttpRequest.Builder request =
                gateway.request("/payments", "k1").POST(HttpRequest.BodyPublishers.ofString("{}"));
        return gateway.send(headers.length == 0 ? request : request.headers(headers))
                .statusCode();
    }

    private int status(String... headers) throws Exception {
        HttpRequest.Builder request = gateway.request(STATUS, "k1");
        return gateway.send(headers.length == 0 ? request : request.headers(headers))
                .statusCode();
    }

    @Test
    @DisplayName(
            "K8 answers only the credentials of its first request; others get 422, learn no status, and run nothing")
    void credentials() throws Exception {
        begin("");
        String secret = "Bearer a-secret-that-is-nowhere-on-disk";
        assertThat(post("Authorization", secret)).isEqualTo(201);
        assertThat(post("Authorization", secret)).isEqualTo(201);
        assertThat(post("Authorization", "Bearer b")).isEqualTo(422);
        assertThat(post()).isEqualTo(422);
        assertThat(upstream.effects("k1")).isEqualTo(1);
        assertThat(status("Authorization", secret)).isEqualTo(200);
        assertThat(status("Authorization", "Bearer b")).isEqualTo(404);
        assertThat(status()).isEqualTo(404);
        gateway.drain();
        try (Stream<Path> files = Files.list(gateway.data())) {
            for (Path file : files.toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(secret.substring(7));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"X-Api-Key,alice,mallory", "X-Auth-Token,alice,mallory", "Cookie,session=alice,session=mallory"})
    @DisplayName("K8 of a caller with an API key or a session is nobody else's, without any configuration")
    void usual(String header, String own, String other) throws Exception {
        begin("");
        assertThat(post(header, own)).isEqualTo(201);
        assertThat(post(header, own)).isEqualTo(201);
        assertThat(post(header, other)).isEqualTo(422);
        assertThat(post()).isEqualTo(422);
        assertThat(status(header, own)).isEqualTo(200);
        assertThat(status(header, other)).isEqualTo(404);
        assertThat(status()).isEqualTo(404);
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("K8 can be told apart by other headers, in one fixed tenant too, or by none if the operator says so")
    void configured() throws Exception {
        begin("tenants: {fixed: shop, credentials: [X-Api-Key]}");
        assertThat(post("X-Api-Key", "a", "Authorization", "x")).isEqualTo(201);
        assertThat(post("X-Api-Key", "a", "Authorization", "y")).isEqualTo(201);
        assertThat(post("X-Api-Key", "b", "Authorization", "x")).isEqualTo(422);
        assertThat(upstream.effects("k1")).isEqualTo(1);
        gateway.close();
        begin("tenants: {fixed: cookies, credentials: [\"cookie:session\"]}");
        assertThat(post("Cookie", "session=a; theme=dark")).isEqualTo(201);
        assertThat(post("Cookie", "theme=light; session=a")).isEqualTo(201);
        assertThat(post("Cookie", "session=b; theme=dark")).isEqualTo(422);
        assertThat(upstream.effects("k1")).isEqualTo(2);
        gateway.close();
        begin("tenants: {fixed: open, credentials: []}");
        assertThat(post("Authorization", "a")).isEqualTo(201);
        assertThat(post("Authorization", "b")).isEqualTo(201);
        assertThat(upstream.effects("k1")).isEqualTo(3);
    }

    @Test
    @DisplayName("K8 is what the line at the start explains")
    void startLine() {
        begin("");
        assertThat(Tenancy.Shared.standard().toString()).contains("host name", "same Authorization, Cookie, X-Api-Key");
        assertThat(new Tenancy.Shared("shop", List.of()).toString()).contains("shop", "anybody who knows a key");
    }

    @Test
    @DisplayName("K7 of one shop is not another's behind the same gateway; spelling and default port do not matter")
    void hosts() throws Exception {
        begin("");
        assertThat(raw("/payments", "shop-a.example")).startsWith("HTTP/1.1 201");
        assertThat(raw("/payments", "shop-b.example")).startsWith("HTTP/1.1 201");
        assertThat(upstream.effects("k1")).isEqualTo(2);
        for (String same : List.of("Shop-A.example", "shop-a.example:80", "shop-a.example:443", "shop-a.example.")) {
            assertThat(raw("/payments", same)).as(same).contains("Idempotent-Replayed: true");
        }
        assertThat(raw("/payments", "shop-a.example:8080")).startsWith("HTTP/1.1 201");
        assertThat(upstream.effects("k1")).isEqualTo(3);
        assertThat(raw("/payments", "127.0.0.1")).startsWith("HTTP/1.1 201");
        for (String machine : List.of("localhost:8090", "[::1]", "10.0.0.7:80")) {
            assertThat(raw("/payments", machine)).as(machine).contains("Idempotent-Replayed: true");
        }
        assertThat(upstream.effects("k1")).isEqualTo(4);
    }

    /** With a Host of its own, which Java's client does not send. */
    private String raw(String target, String host) throws IOException {
        return raw(
                "POST " + target + " HTTP/1.1\r\nHost: " + host + "\r\nIdempotency-Key: k1\r\nContent-Length: 0\r\n");
    }

    private String raw(String head) throws IOException {
        try (Socket socket = gateway.connect()) {
            socket.getOutputStream().write((head + "Connection: close\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            return String.join("\n", reader.lines().toList());
        }
    }

    @Test
    @DisplayName("W7 that no operation takes is counted and logged once for each kind of path")
    void unmatched() throws Exception {
        try (LogLines lines = new LogLines("dev.onlyonce.server.gateway.UnmatchedRequests")) {
            begin("operations: [{method: POST, path: /payments}]");
            for (int i = 0; i < 20; i++) {
                assertThat(gateway.post("/unlisted/" + i, "r" + i, "{}").statusCode())
                        .isEqualTo(201);
            }
            for (int i = 0; i < 200; i++) {
                gateway.post(
                        "/unlisted-" + "abcdefghij".charAt(i % 10) + "/" + "abcdefghijklmnopqrst".charAt(i / 10),
                        "k",
                        "{}");
            }
            assertThat(gateway.get("/unlisted").statusCode()).isEqualTo(201);
            assertThat(post()).isEqualTo(201);
            assertThat(lines.with("POST /unlisted/{id}"))
                    .singleElement()
                    .asString()
                    .contains("pass unprotected");
            assertThat(lines.with("No operation matches POST /unlisted")).hasSize(100);
            assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics")))
                            .body())
                    .contains("gateway_unmatched_total 220.0");
        }
    }

    @Test
    @DisplayName("W7 that no operation takes is refused where so configured")
    void unmatchedRefused() throws Exception {
        begin("operations: [{method: POST, path: /payments}]\nunmatched: refuse");
        assertThat(gateway.post("/refunds", "k1", "{}").body()).contains("operation_unmatched", "403");
        assertThat(upstream.effects("k1")).isZero();
        assertThat(gateway.get("/refunds").statusCode()).isEqualTo(201);
        assertThat(post()).isEqualTo(201);
    }

    @Test
    @DisplayName("K4 of a path that services may read otherwise is refused, or protected where so configured")
    void ambiguous() throws Exception {
        List<String> paths = List.of(
                "//payments",
                "//x/payments",
                "/\\x/payments",
                "/x/../payments",
                "/payments;v=1",
                "/x/..;/payments",
                "/payments/%2e",
                "/payments%2f");
        begin("operations: [{method: POST, path: /payments}]");
        for (String path : paths) {
            assertThat(raw(path, "localhost"))
                    .as(path)
                    .startsWith("HTTP/1.1 400")
                    .contains("path_ambiguous");
        }
        assertThat(upstream.effects("k1")).isZero();
        assertThat(raw("/%70ayments/", "localhost")).startsWith("HTTP/1.1 201").contains("Idempotency-Key-Expires");
        gateway.close();
        begin("operations: [{method: POST, path: /payments}]\nambiguous-paths: protect\ndata: data-2");
        for (String path : paths.subList(0, 2)) {
            String bare = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n";
            assertThat(raw(bare)).as(path).startsWith("HTTP/1.1 400").contains("key_missing");
        }
    }

    @Test
    @DisplayName(
            "K7 and what says who the client is cannot be forged: untrusted tenants and underscores are dropped everywhere")
    void headers() throws Exception {
        begin("tenants: {header: {name: X-Tenant, from: [10.0.0.0/8]}}");
        List<String> lines = List.of(
                "GET /anything HTTP/1.1",
                "Host: a.example",
                "X-Tenant: acme",
                "X_Tenant: acme",
                "Idempotency_Key: k",
                "X_Forwarded_For: 1.2.3.4",
                "X-Forwarded_Proto: https",
                "X.Tenant: acme",
                "Idempotency~Key: k",
                "Idempotency-Attempt: 7",
                "X_Other: kept",
                "");
        String answer = raw(String.join("\r\n", lines));
        assertThat(answer).startsWith("HTTP/1.1 201");
        for (String dropped : List.of(
                "X-Tenant",
                "X_Tenant",
                "Idempotency_Key",
                "X_Forwarded_For",
                "X-Forwarded_Proto",
                "X.Tenant",
                "Idempotency~Key",
                "Idempotency-Attempt")) {
            assertThat(upstream.header(dropped)).as(dropped).isEmpty();
        }
        assertThat(upstream.header("X_Other")).isEqualTo("kept");
        gateway.close();
        begin("tenants: {header: {name: X-Tenant, from: [127.0.0.0/8]}}");
        raw("GET /anything HTTP/1.1\r\nHost: a.example\r\nX-Tenant: acme\r\n");
        assertThat(upstream.header("X-Tenant")).isEqualTo("acme");
        String named = "Connection: Keep-Alive, X-Tenant, Authorization, X-Other\r\n";
        raw("POST /anything HTTP/1.1\r\nHost: a.example\r\nX-Tenant: zenith\r\nAuthorization: b\r\nX-Other: c\r\n"
                + "Idempotency-Key: k2\r\nContent-Length: 0\r\n" + named);
        assertThat(upstream.header("X-Tenant"))
                .as("a client behind the proxy cannot take back what that says")
                .isEqualTo("zenith");
        assertThat(upstream.header("Authorization")).isEqualTo("b");
        assertThat(upstream.header("X-Other")).isEmpty();
    }

    @Test
    @DisplayName(
            "K8 told apart by cookies is the same caller's, whether they come in one line or in pieces as in HTTP/2")
    void cookies() throws Exception {
        begin("tenants: {credentials: [Cookie]}");
        String head = "POST /payments HTTP/1.1\r\nHost: a.example\r\nIdempotency-Key: k1\r\nContent-Length: 0\r\n";
        assertThat(raw(head + "Cookie: a=1; b=2\r\n")).startsWith("HTTP/1.1 201");
        assertThat(raw(head + "Cookie: a=1\r\nCookie: b=2\r\n")).contains("Idempotent-Replayed: true");
        assertThat(raw(head + "Cookie: a=1\r\nCookie: b=3\r\n")).startsWith("HTTP/1.1 422");
        assertThat(raw(head + "Cookie: a=1\r\n")).startsWith("HTTP/1.1 422");
    }

    @Test
    @DisplayName("S3 is limited for all host names together, because a client can ask for any")
    void limits() throws Exception {
        begin("limits: {new-keys-per-second: 1, look-ups-per-second: 1}");
        String status = "GET " + STATUS + " HTTP/1.1\r\nIdempotency-Key: k1\r\nHost: ";
        int run = 0;
        int asked = 0;
        for (int i = 0; i < 50; i++) {
            run += raw("/payments", "shop-" + i + ".example").startsWith("HTTP/1.1 201") ? 1 : 0;
            asked += raw(status + "shop-" + i + ".example\r\n").startsWith("HTTP/1.1 429") ? 0 : 1;
        }
        assertThat(run).isPositive().isLessThan(40);
        assertThat(asked).isPositive().isLessThan(40);
        assertThat(upstream.effects("k1")).isEqualTo(run);
    }
}
