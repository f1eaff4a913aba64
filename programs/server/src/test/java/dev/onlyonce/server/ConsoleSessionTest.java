package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A person in the gateway's console")
class ConsoleSessionTest extends AdminFixture {
    private static final String RESOLVE =
            "{\"key\":{\"tenant\":\"default\",\"key\":\"order-1\"},\"finding\":{\"outcome\":\"absent\",\"attempt\":1,\"reason\":\"test\"}}";

    private String cookie = "";
    private String csrf = "";

    private String token(String file) throws Exception {
        return Files.readString(gateway.data().resolve(file)).strip();
    }

    private HttpRequest.Builder console(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(gateway.admin("/console" + path));
        return cookie.isEmpty() ? request : request.header("Cookie", cookie);
    }

    private HttpRequest.Builder post(String path, String body) {
        return console(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private HttpResponse<String> logIn(String name, String credential) throws Exception {
        return gateway.send(post("/v1/session", "{\"name\":\"" + name + "\",\"credential\":\"" + credential + "\"}"));
    }

    private void logInAs(String name, String file) throws Exception {
        HttpResponse<String> answer = logIn(name, token(file));
        assertThat(answer.statusCode()).isEqualTo(200);
        String set = answer.headers().firstValue("Set-Cookie").orElseThrow();
        cookie = set.substring(0, set.indexOf(';'));
        Matcher found = Pattern.compile("\"token\":\"([^\"]+)\"").matcher(answer.body());
        assertThat(found.find()).isTrue();
        csrf = found.group(1);
    }

    @Test
    @DisplayName("O2 sees nothing without a session: not a key, not the node's name")
    void nothingWithout() throws Exception {
        for (String path : List.of("/v1/overview", "/v1/keys", "/v1/operations", "/v1/openapi.json", "/v1/nothing")) {
            HttpResponse<String> answer = gateway.send(console(path));
            assertThat(answer.statusCode()).as(path).isEqualTo(401);
            assertThat(answer.body()).contains("login_required");
        }
        HttpResponse<String> session = gateway.send(console("/v1/session"));
        assertThat(session.statusCode()).isEqualTo(200);
        assertThat(session.body()).isEqualTo("{\"program\":\"gateway\",\"loggedIn\":false,\"login\":\"form\"}");
    }

    @Test
    @DisplayName(
            "S5 O2 logs in with a credential, gets a cookie that no script and no other site can use, and logs out for"
                    + " good")
    void session() throws Exception {
        HttpResponse<String> answer = logIn("anna", token("admin-token"));
        assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow())
                .contains("Path=/console/", "HttpOnly", "SameSite=Strict")
                .doesNotContain("Secure");
        assertThat(answer.body()).contains("\"role\":\"operator\"", "\"name\":\"anna\"", "\"keys\":\"whole\"");
        logInAs("anna", "admin-token");
        assertThat(gateway.send(console("/v1/overview")).statusCode()).isEqualTo(200);
        assertThat(gateway.send(console("/v1/session")
                                .header("X-Onlyonce-Csrf", csrf)
                                .DELETE())
                        .statusCode())
                .isEqualTo(204);
        assertThat(gateway.send(console("/v1/overview")).statusCode())
                .as("the old cookie is worth nothing")
                .isEqualTo(401);
    }

    @Test
    @DisplayName("O2 changes nothing without the token of the page, and nothing from another site")
    void forged() throws Exception {
        gateway.post("/broken/pay", "order-1", "{}");
        logInAs("anna", "admin-token");
        assertThat(gateway.send(post("/v1/keys/resolve", RESOLVE)).body()).contains("\"code\":\"csrf\"");
        assertThat(gateway.send(post("/v1/keys/resolve", RESOLVE).header("X-Onlyonce-Csrf", "wrong"))
                        .statusCode())
                .isEqualTo(403);
        for (Map.Entry<String, String> header : Map.of("Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
                .entrySet()) {
            HttpResponse<String> answer = gateway.send(post("/v1/keys/resolve", RESOLVE)
                    .header("X-Onlyonce-Csrf", csrf)
                    .header(header.getKey(), header.getValue()));
            assertThat(answer.statusCode()).as(header.toString()).isEqualTo(401);
        }
        assertThat(run("keys", "show", "order-1").out()).contains("unknown");
        assertThat(gateway.send(post("/v1/keys/resolve", RESOLVE).header("X-Onlyonce-Csrf", csrf))
                        .statusCode())
                .isEqualTo(200);
        assertThat(run("keys", "history", "order-1").out())
                .as("S2 S5 with the operator's name")
                .containsPattern("unknown +retryable +operator anna +test");
    }

    @Test
    @DisplayName("O2 cannot be logged in by another site's form")
    void noForms() throws Exception {
        String body = "{\"name\":\"anna\",\"credential\":\"" + token("admin-token") + "\"}";
        HttpResponse<String> form = gateway.send(console("/v1/session")
                .header("Content-Type", "text/plain")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
        assertThat(form.statusCode()).isEqualTo(403);
        HttpResponse<String> cross = gateway.send(post("/v1/session", body).header("Origin", "https://evil.example"));
        assertThat(cross.statusCode()).isEqualTo(403);
    }

    @Test
    @DisplayName(
            "S5 with the other credential looks at everything, sees keys in part and no payloads, and changes nothing")
    void reader() throws Exception {
        gateway.post("/payments", "order-secret-1", "{}");
        gateway.post("/broken/pay", "order-1", "{}");
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(gateway.data().resolve("admin-read-token"))))
                .isEqualTo("rw-------");
        logInAs("bert", "admin-read-token");
        String list = gateway.send(console("/v1/keys?limit=1")).body();
        assertThat(list).contains("\"shortened\":true").doesNotContain("order-1", "order-secret-1");
        String ref = group(list, "\"ref\":\"([^\"]+)\"");
        assertThat(new String(Base64.getUrlDecoder().decode(ref.substring(1)), StandardCharsets.ISO_8859_1))
                .as("the reference says nothing about the key")
                .doesNotContain("order");
        String next = group(list, "\"next\":\"([^\"]+)\"");
        String second = gateway.send(console("/v1/keys?limit=1&after=" + next)).body();
        String open = "k"
                + Base64.getUrlEncoder()
                        .withoutPadding()
                        .encodeToString("default\n\norder-s".getBytes(StandardCharsets.UTF_8));
        for (String guess : List.of("tenant=default&prefix=order-s", "after=" + open)) {
            assertThat(gateway.send(console("/v1/keys?" + guess)).statusCode())
                    .as("a key is not found out letter by letter: " + guess)
                    .isEqualTo(400);
        }
        String shown = gateway.send(console("/v1/keys/show?ref=" + group(second, "\"ref\":\"([^\"]+)\"")))
                .body();
        assertThat(shown)
                .contains("payloads are hidden", "\"actions\":[]", "\"history\"")
                .doesNotContain("order-secret-1", "\"body\"");
        for (String path : List.of("/v1/keys/resolve", "/v1/keys/evict", "/v1/reconcile/run", "/v1/store/accept")) {
            HttpResponse<String> answer = gateway.send(post(path, RESOLVE).header("X-Onlyonce-Csrf", csrf));
            assertThat(answer.statusCode()).as(path).isEqualTo(403);
            assertThat(answer.body()).contains("read_only");
        }
        HttpResponse<String> byToken = gateway.send(HttpRequest.newBuilder(gateway.admin("/v1/keys/evict"))
                .header("Authorization", "Bearer " + token("admin-read-token"))
                .POST(HttpRequest.BodyPublishers.ofString(RESOLVE)));
        assertThat(byToken.statusCode()).as("programs too").isEqualTo(403);
    }

    private static String group(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern + " in " + text).isTrue();
        return matcher.group(1);
    }

    @Test
    @DisplayName("S5 who guesses has to wait, also with the right credential; a session goes on")
    void guessing() throws Exception {
        logInAs("anna", "admin-token");
        String session = cookie;
        cookie = "";
        for (int i = 0; i < 10; i++) {
            assertThat(logIn("mallory", "guess-" + i).statusCode()).isEqualTo(401);
        }
        HttpResponse<String> slowed = logIn("mallory", token("admin-token"));
        assertThat(slowed.statusCode()).isEqualTo(429);
        assertThat(slowed.headers().firstValue("Retry-After")).isPresent();
        cookie = session;
        assertThat(gateway.send(console("/v1/overview")).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({"'',400", "'a\\u0000b',400", "'\\u202eevil',400", "anna,200"})
    @DisplayName("S5 gives a name that can be shown")
    void names(String name, int status) throws Exception {
        assertThat(logIn(name, token("admin-token")).statusCode()).isEqualTo(status);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/v1/session", "/v1/keys", "/nothing", "/../v1/keys", "/%2e%2e/v1/keys"})
    @DisplayName("O2 gets every answer with a policy that runs no foreign code, in nobody's frame, kept by nobody")
    void headers(String path) throws Exception {
        HttpResponse<String> answer = gateway.send(console(path));
        assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(answer.headers().firstValue("X-Frame-Options")).hasValue("DENY");
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(answer.headers().firstValue("Cache-Control").orElseThrow()).isIn("no-store", "no-cache");
    }

    @Test
    @DisplayName("S5 cannot be reached by a foreign name, whatever credential is sent along")
    void rebinding() throws Exception {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), gateway.admin("").getPort())) {
            socket.setSoTimeout(60_000);
            String head = "GET /console/v1/session HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 421");
        }
    }
}
