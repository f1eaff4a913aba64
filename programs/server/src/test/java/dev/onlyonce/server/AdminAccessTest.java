package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.server.config.StoreSettings;
import dev.onlyonce.server.gateway.OpenStore;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An operator among others")
class AdminAccessTest extends AdminFixture {

    @Test
    @DisplayName("S5 needs the credential, which only its owner can read")
    void credential() throws Exception {
        Path token = gateway.data().resolve("admin-token");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
                .isEqualTo("rw-------");
        for (String path : List.of("/v1/keys", "/v1/stats", "/v1/schema", "/v1/nothing")) {
            HttpRequest.Builder bare = HttpRequest.newBuilder(gateway.admin(path));
            assertThat(gateway.send(bare).statusCode()).as(path).isEqualTo(401);
            assertThat(gateway.send(bare.copy().header("Authorization", "Bearer wrong"))
                            .statusCode())
                    .as(path)
                    .isEqualTo(401);
        }
        assertThat(gateway.send(admin("/v1/stats")).body())
                .contains("\"completed\":0")
                .contains("\"liveClaims\":0");
        assertThat(gateway.get("/v1/stats").body())
                .as("the public listener passes it on like anything else")
                .doesNotContain("liveClaims");
    }

    @Test
    @DisplayName("is told that a credential is wrong, which is not the store's fault")
    void wrongCredential() throws Exception {
        Path token = folder.resolve("wrong-token");
        Files.writeString(token, "w".repeat(64));
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        Result refused = run("stats", "--admin-token-file", token.toString());
        assertThat(refused.exitCode()).isEqualTo(Cli.FAILED);
        assertThat(refused.err()).contains("credential is wrong").doesNotContain("store", "is needed");
    }

    @Test
    @DisplayName(
            "S5 cannot be reached by a name that somebody else's page brings along; health can, because it tells nothing")
    void rebinding() throws Exception {
        for (String path : List.of("/metrics", "/v1/stats")) {
            // A browser looks up and sends the second and third as they are.
            for (String host :
                    List.of("evil.example", "a\"b.evil.example", "a{b}.evil.example", "evil.example:99999")) {
                assertThat(named(path, host)).as(path + " " + host).startsWith("HTTP/1.1 421");
            }
            for (String host : List.of("localhost", "127.0.0.1:8091", "[::1]:8091")) {
                assertThat(named(path, host)).as(path + " " + host).doesNotStartWith("HTTP/1.1 421");
            }
        }
        assertThat(named("/health/ready", "evil.example")).startsWith("HTTP/1.1 200");
    }

    private String named(String path, String host) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), gateway.admin("").getPort())) {
            socket.setSoTimeout(60_000);
            String head = "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    @DisplayName("has a database that only its owner can read, because it holds responses")
    void ownersDatabase() throws Exception {
        gateway.post("/payments", "order-1", "{}");
        for (String name : List.of("onlyonce.db", "onlyonce.db-wal")) {
            Path file = gateway.data().resolve(name);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .as(name)
                    .isEqualTo("rw-------");
        }
        Path named = folder.resolve("named.db");
        OpenStore.open(
                        new StoreSettings(
                                "jdbc:sqlite:" + named,
                                null,
                                null,
                                SchemaMode.CREATE,
                                null,
                                AuditLevel.ALL,
                                StoreSettings.AUDIT_RETENTION),
                        folder)
                .close();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(named)))
                .isEqualTo("rw-------");
    }
}
