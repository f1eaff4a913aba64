package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.RedisServer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@DisplayName("A store that fails")
@Isolated
class StoreHealthTest {
    private static final String BEGAN = "ERROR The store began to fail";
    private static final String ENDED = "WARN The store is well again";

    @TempDir
    Path folder;

    private CountingUpstream upstream;
    private Running gateway;
    private LogLines lines;

    @BeforeEach
    void start() {
        lines = new LogLines("dev.onlyonce.server.gateway.StoreHealth");
        upstream = new CountingUpstream();
        gateway = Running.start(folder, upstream.url(), "");
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
        lines.close();
    }

    private int ready() throws Exception {
        return gateway.send(HttpRequest.newBuilder(gateway.admin("/health/ready")))
                .statusCode();
    }

    private int pay(String key) throws Exception {
        return gateway.post("/payments", key, "{}").statusCode();
    }

    @Test
    @DisplayName(
            "D9 for writing only makes the gateway not ready; one line says when it began, and one when it is well again")
    void unwritable() throws Exception {
        assertThat(ready()).isEqualTo(200);
        assertThat(gateway.send(adminKeys()).body())
                .as("a probe leaves nothing behind")
                .contains("\"keys\":[]");
        try (Connection other = DriverManager.getConnection(
                        "jdbc:sqlite:" + gateway.data().resolve("onlyonce.db"));
                Statement statement = other.createStatement()) {
            statement.execute("BEGIN IMMEDIATE");
            Eventually.eventually(() -> assertThat(ready()).isEqualTo(503));
            Eventually.eventually(() -> assertThat(lines.with(BEGAN)).hasSize(1));
            assertThat(ready()).isEqualTo(503);
            statement.execute("ROLLBACK");
        }
        Eventually.eventually(() -> assertThat(lines.with(ENDED)).hasSize(1));
        Eventually.eventually(() -> assertThat(ready()).isEqualTo(200));
        assertThat(pay("k1")).isEqualTo(201);
        assertThat(lines.with("store")).hasSize(2);
    }

    @Test
    @DisplayName("E2 only by its owner's decision leaves the gateway ready, and probes show what may be lost")
    void acceptedRisks() throws Exception {
        try (RedisServer server = RedisServer.start("appendonly no");
                Running risky = Running.start(
                        Files.createDirectory(folder.resolve("risky")),
                        upstream.url(),
                        "store: {url: \"" + server.url() + "?acceptDataLoss=true\"}\n")) {
            HttpResponse<String> health = risky.send(HttpRequest.newBuilder(risky.admin("/health/ready")));
            assertThat(health.statusCode()).isEqualTo(200);
            assertThat(health.body()).startsWith("ready\naccepted risk: ").contains("set appendonly to yes");
        }
    }

    private HttpRequest.Builder adminKeys() throws IOException {
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        return HttpRequest.newBuilder(gateway.admin("/v1/keys")).header("Authorization", "Bearer " + token);
    }

    @Test
    @DisplayName("D9 because its file was removed or replaced runs nothing more, and says so")
    void removed() throws Exception {
        assertThat(pay("k1")).isEqualTo(201);
        Path away = Files.createDirectory(folder.resolve("away"));
        List<Path> files = files();
        for (Path file : files) {
            Files.move(file, away.resolve(file.getFileName()));
        }
        assertThat(pay("k2")).isEqualTo(503);
        assertThat(upstream.effects("k2")).isZero();
        assertThat(ready()).isEqualTo(503);
        assertThat(lines.with(BEGAN)).singleElement().asString().contains("was removed or replaced");
        Path database = gateway.data().resolve("onlyonce.db");
        Files.createFile(database);
        assertThat(pay("k2")).as("another file at its place").isEqualTo(503);
        Files.delete(database);
        for (Path file : files) {
            Files.move(away.resolve(file.getFileName()), file);
        }
        Eventually.eventually(() -> assertThat(pay("k2")).isEqualTo(201));
        assertThat(upstream.effects("k2")).isEqualTo(1);
        assertThat(pay("k1")).isEqualTo(201);
        assertThat(upstream.effects("k1")).isEqualTo(1);
        Eventually.eventually(() -> assertThat(lines.with(ENDED)).hasSize(1));
    }

    @Test
    @DisplayName("D9 because its write-ahead log was removed runs nothing more; an orderly stop loses nothing")
    void logRemoved() throws Exception {
        assertThat(pay("k1")).isEqualTo(201);
        Path log = gateway.data().resolve("onlyonce.db-wal");
        Files.delete(log);
        Eventually.eventually(() -> assertThat(ready()).isEqualTo(503));
        assertThat(pay("k2")).isEqualTo(503);
        assertThat(upstream.effects("k2")).isZero();
        assertThat(lines.with(BEGAN)).singleElement().asString().contains("onlyonce.db-wal was removed or replaced");
        Files.createFile(log);
        assertThat(pay("k2")).as("another file at its place").isEqualTo(503);
        Files.delete(log);
        gateway.close();
        gateway = Running.start(folder, upstream.url(), "");
        assertThat(pay("k1")).isEqualTo(201);
        assertThat(upstream.effects("k1")).isEqualTo(1);
        assertThat(pay("k2")).isEqualTo(201);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(gateway.data())) {
            return all.filter(file -> file.getFileName().toString().startsWith("onlyonce.db"))
                    .toList();
        }
    }
}
