package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.filter.OncePerRequestFilter;

@DisplayName("The console of an application")
class ConsoleTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String ENABLED = "--onlyonce.console.enabled=true";

    @TempDir
    Path folder;

    /** Authenticates whoever the header names, with the role that another one names: as a real filter would. */
    @SampleApplication
    @Import(SampleApp.class)
    static class Authenticating {
        @Bean
        OncePerRequestFilter users() {
            return new OncePerRequestFilter() {
                @Override
                protected void doFilterInternal(
                        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                        throws ServletException, IOException {
                    String user = request.getHeader("X-User");
                    chain.doFilter(user == null ? request : new Known(request, user), response);
                }
            };
        }
    }

    private static final class Known extends HttpServletRequestWrapper {
        private final String user;

        Known(HttpServletRequest request, String user) {
            super(request);
            this.user = user;
        }

        @Override
        public Principal getUserPrincipal() {
            return () -> user;
        }

        @Override
        public boolean isUserInRole(String role) {
            return role.equals(getHeader("X-Role"));
        }
    }

    private String database() {
        return "jdbc:sqlite:" + folder.resolve("application.db");
    }

    private static HttpResponse<String> send(RunningSample app, String path, String body, String... headers)
            throws Exception {
        return to(app, "/onlyonce" + path, body, headers);
    }

    private static HttpResponse<String> to(RunningSample app, String path, String body, String... headers)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + app.port() + path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String raw(RunningSample app, String lines) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), app.port())) {
            socket.setSoTimeout(60_000);
            String head = "GET /onlyonce/v1/overview HTTP/1.1\r\n" + lines + "Connection: close\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String csrf(HttpResponse<String> session) {
        Matcher token = Pattern.compile("\"token\":\"([^\"]+)\"").matcher(session.body());
        assertThat(token.find()).as(session.body()).isTrue();
        return token.group(1);
    }

    @Test
    @DisplayName("S5 is not there unless it is enabled")
    void off() throws Exception {
        try (RunningSample app = new RunningSample(database())) {
            assertThat(send(app, "/", "").statusCode()).isEqualTo(404);
            assertThat(send(app, "/v1/overview", "").statusCode()).isEqualTo(404);
        }
    }

    @Test
    @DisplayName(
            "S5 O2 where nothing authenticates users, is for this machine alone: no proxy, no foreign name, no other"
                    + " site")
    void loopback() throws Exception {
        try (RunningSample app = new RunningSample(database(), ENABLED)) {
            HttpResponse<String> page = send(app, "/", "");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .contains("script-src 'self'")
                    .doesNotContain("unsafe");
            assertThat(send(app, "/v1/overview", "").statusCode()).isEqualTo(200);
            assertThat(raw(app, "Host: evil.example\r\n")).startsWith("HTTP/1.1 401");
            assertThat(raw(app, "Host: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\n"))
                    .startsWith("HTTP/1.1 401");
            assertThat(raw(app, "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n"))
                    .startsWith("HTTP/1.1 401");
            assertThat(send(app, "/v1/reconcile/run", "{}").body()).contains("csrf");
            String token = csrf(send(app, "/v1/session", ""));
            assertThat(send(app, "/v1/reconcile/run", "{}", "X-Onlyonce-Csrf", token)
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("S5 is for users with a role: others may be the application's customers")
    void roles() throws Exception {
        try (RunningSample app = new RunningSample(Authenticating.class, database(), ENABLED)) {
            app.bean(Onlyonce.class)
                    .execute(
                            Key.of("acme", "pay", "key-secret-1"), Fingerprint.of(new byte[0]), String.class, c -> "x");
            assertThat(send(app, "/v1/keys", "", "X-User", "customer").statusCode())
                    .isEqualTo(403);
            HttpResponse<String> read = send(app, "/v1/keys", "", "X-User", "bert", "X-Role", "ONLYONCE_READER");
            assertThat(read.statusCode()).isEqualTo(200);
            assertThat(read.body()).contains("\"shortened\":true").doesNotContain("key-secret-1");
            String evict = "{\"key\":{\"tenant\":\"acme\",\"key\":\"key-secret-1\"},\"reason\":\"ticket\"}";
            String bert = csrf(send(app, "/v1/session", "", "X-User", "bert", "X-Role", "ONLYONCE_READER"));
            String[] asReader = {"X-User", "bert", "X-Role", "ONLYONCE_READER", "X-Onlyonce-Csrf", bert};
            assertThat(send(app, "/v1/keys/evict", evict, asReader).body()).contains("read_only");
            String[] stolen = {"X-User", "anna", "X-Role", "ONLYONCE_OPERATOR", "X-Onlyonce-Csrf", bert};
            assertThat(send(app, "/v1/keys/evict", evict, stolen).body()).contains("csrf");
            String anna = csrf(send(app, "/v1/session", "", "X-User", "anna", "X-Role", "ONLYONCE_OPERATOR"));
            String[] asOperator = {"X-User", "anna", "X-Role", "ONLYONCE_OPERATOR", "X-Onlyonce-Csrf", anna};
            assertThat(send(app, "/v1/keys/evict", evict, asOperator).statusCode())
                    .isEqualTo(200);
            HttpResponse<String> history = send(app, "/v1/keys/history?tenant=acme&key=key-secret-1", "", asOperator);
            assertThat(history.body()).contains("\"who\":\"operator anna\"", "\"why\":\"ticket\"");
        }
    }

    @Test
    @DisplayName(
            "O1 D6 settles through its API what is in doubt; the actuator counts it and leads there, under every path")
    void resolves() throws Exception {
        try (RunningSample app = new RunningSample(
                database(),
                ENABLED,
                "--onlyonce.console.path=/ops/console",
                "--server.servlet.context-path=/shop",
                "--spring.mvc.servlet.path=/api")) {
            assertThat(app.post("/shop/api/strict-failure", "order-1", "{}").statusCode())
                    .isEqualTo(500);
            String summary = to(app, "/shop/api/actuator/onlyonce", "").body();
            assertThat(summary).contains("\"unknown\":1", "\"console\":\"/shop/api/ops/console/\"");
            String api = "/shop/api/ops/console/v1";
            String token = csrf(to(app, api + "/session", ""));
            String found = "{\"key\":{\"tenant\":\"acme\",\"key\":\"order-1\"},\"finding\":{\"outcome\":\"found\","
                    + "\"response\":{\"status\":200,\"body\":\"it had worked\"},\"reason\":\"ticket 4711\"}}";
            assertThat(to(app, api + "/keys/resolve", found, "X-Onlyonce-Csrf", token)
                            .statusCode())
                    .isEqualTo(200);
            assertThat(app.post("/shop/api/strict-failure", "order-1", "{}").body())
                    .isEqualTo("it had worked");
        }
    }
}
