package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An operator who slips")
class AdminMistakesTest extends AdminFixture {

    @Test
    @DisplayName("is told what is wrong with a request, in words that are not about the program's inside")
    void wrongRequests() throws Exception {
        HttpResponse<String> limit = gateway.send(admin("/v1/keys?limit=99999999999"));
        assertThat(limit.statusCode()).isEqualTo(400);
        assertThat(limit.body()).contains("limit must be between");
        HttpResponse<String> database = gateway.send(admin("/v1/schema/script?database=oracle"));
        assertThat(database.statusCode()).isEqualTo(400);
        assertThat(database.body()).contains("use postgresql, mysql, sqlite or h2");
        HttpResponse<String> settle =
                gateway.send(admin("/v1/keys/resolve").POST(HttpRequest.BodyPublishers.ofString("{}")));
        assertThat(settle.statusCode()).isEqualTo(400);
        assertThat(settle.body()).contains("key is missing").doesNotContain("dev.onlyonce");
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/v1/stats"))
                                .header("Authorization", "bearer " + token))
                        .statusCode())
                .as("the name of a scheme has no case")
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"keys/resolve", "keys/evict", "outbox/retry", "outbox/drop"})
    @DisplayName("is told that null, or a body of another kind, is not what was expected")
    void nulls(String action) throws Exception {
        for (String body : List.of(
                "null",
                "",
                "[]",
                "7",
                "\"x\"",
                "{}",
                "{\"key\":null}",
                "{\"key\":{},\"finding\":{}}",
                "{\"id\":null}")) {
            HttpResponse<String> answer =
                    gateway.send(admin("/v1/" + action).POST(HttpRequest.BodyPublishers.ofString(body)));
            assertThat(answer.statusCode()).as(body).isEqualTo(400);
            assertThat(answer.body()).as(body).doesNotContain("dev.onlyonce");
        }
    }

    @Test
    @DisplayName("S5 at the port for clients keeps the credential to himself, and learns where the admin API is not")
    void wrongPort() {
        Result lost = runAlone(
                "stats",
                "--admin",
                gateway.url("").toString(),
                "--data",
                gateway.data().toString());
        assertThat(lost.exitCode()).isEqualTo(Cli.FAILED);
        assertThat(lost.err())
                .contains("There is no admin API at", "was not sent")
                .doesNotContain("\tat ");
        assertThat(upstream.header("Authorization")).isEmpty();
    }

    @Test
    @DisplayName("S2 or lies in a reason cannot forge a line of the log")
    void forgedLine() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        String forged = "ok\n2026-01-01 INFO audit - everything is fine\u001b[31m\u2028x";
        try (LogLines lines = new LogLines("dev.onlyonce")) {
            assertThat(run("keys", "evict", "order-1", "--reason", forged).exitCode())
                    .isZero();
            assertThat(lines.with("everything is fine"))
                    .singleElement()
                    .asString()
                    .doesNotContain("\n", "\u001b")
                    .contains("evicted");
        }
        String pattern = Files.readString(Path.of("src/main/resources/logback.xml"));
        assertThat(forged.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", " ")).doesNotContain("\n", "\u001b", "\u2028");
        assertThat(pattern).contains("%replace(%msg){'[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]', ' '}");
    }

    @Test
    @DisplayName("prints the schema, and is told what is wrong with a command")
    void others() {
        assertThat(run("schema", "apply").out()).contains("sqlite");
        Result script = runAlone("schema", "print", "postgresql");
        assertThat(script.out()).contains("CREATE TABLE");
        assertThat(runAlone("nonsense").exitCode()).isEqualTo(Cli.USAGE);
        assertThat(runAlone("gateway", "--check", "--upstream", "nonsense").err())
                .contains("http://127.0.0.1:9000");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a", "--port", "70000")
                        .err())
                .contains("--port must be between 0 and 65535");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a", "--admin-token-file", "none")
                        .err())
                .contains("the file none does not exist");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a").out())
                .contains("valid");
        assertThat(runAlone("gateway").exitCode()).isEqualTo(Cli.USAGE);
    }

    @Test
    @DisplayName(
            "is told that a body is too large before it is sent whole, nothing is done, and the connection is closed")
    void tooLarge() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        String evict = "{\"key\": {\"tenant\": \"default\", \"key\": \"order-1\"}, \"reason\": \"test\"}";
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), gateway.admin("").getPort())) {
            // Less than a connection may idle.
            socket.setSoTimeout(30_000);
            RawUpstream.write(
                    socket,
                    RawUpstream.lines(
                            "POST /v1/keys/evict HTTP/1.1",
                            "Host: localhost",
                            "Authorization: Bearer " + token,
                            "Content-Length: " + (40 << 20)));
            RawUpstream.write(socket, evict + " ".repeat(21 << 20));
            String head = RawUpstream.head(socket.getInputStream());
            assertThat(head)
                    .startsWith("HTTP/1.1 413 ")
                    .containsIgnoringCase("\r\nConnection: close\r\n")
                    .containsIgnoringCase("\r\nContent-Type: application/problem+json\r\n");
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("\"status\":413")
                    .contains("20 MiB");
        }
        HttpRequest.Builder whole =
                admin("/v1/keys/evict").POST(HttpRequest.BodyPublishers.ofString(evict + " ".repeat(21 << 20)));
        assertThat(gateway.send(whole).statusCode()).isEqualTo(413);
        assertThat(run("keys", "show", "order-1").exitCode()).isZero();
    }

    @Test
    @DisplayName("cannot take TLS away from an upstream whose authority is configured, by naming another URL")
    void movedUpstream() throws Exception {
        SelfSigned.in(folder);
        String config = Files.writeString(
                        folder.resolve("tls.yaml"), "upstreams: [{url: https://a, tls: {ca: cert.pem}}]")
                .toString();
        assertThat(runAlone("gateway", "--check", "--config", config, "--upstream", "https://b")
                        .out())
                .contains("valid");
        Result plain = runAlone("gateway", "--check", "--config", config, "--upstream", "http://b");
        assertThat(plain.exitCode()).isEqualTo(Cli.USAGE);
        assertThat(plain.err()).contains("--upstream needs https://");
    }
}
