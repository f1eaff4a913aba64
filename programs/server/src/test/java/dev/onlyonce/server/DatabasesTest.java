package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.MySqlServer;
import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.RedisServer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Gateways on a database server")
class DatabasesTest {
    @TempDir
    Path folder;

    private Running gateway(String name, CountingUpstream upstream, String url) throws Exception {
        Path own = Files.createDirectory(folder.resolve(name));
        return Running.start(own, upstream.url(), "store: {url: '" + url + "'}\ndefaults: {wait-max: 30s}");
    }

    private void twoAreOne(String url) throws Exception {
        try (CountingUpstream upstream = new CountingUpstream();
                Running one = gateway("one", upstream, url);
                Running two = gateway("two", upstream, url)) {
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                Running either = i % 2 == 0 ? one : two;
                answers.add(either.begin("/payments", "k1"));
            }
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                assertThat(answer.get().statusCode()).isEqualTo(201);
                assertThat(answer.get().body()).contains("\"effect\":1,");
            }
            one.post("/payments", "k2", "{\"a\":1}");
            assertThat(two.post("/payments", "k2", "{\"a\":1}").headers().firstValue("Idempotent-Replayed"))
                    .hasValue("true");
            assertThat(two.post("/payments", "k2", "{\"a\":2}").statusCode()).isEqualTo(422);
            assertThat(upstream.effects("k1")).isEqualTo(1);
            assertThat(upstream.effects("k2")).isEqualTo(1);
            assertThat(one.send(HttpRequest.newBuilder(one.admin("/health/ready")))
                            .statusCode())
                    .as("it can write, and leaves nothing behind")
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("C1 two on PostgreSQL are one gateway")
    void postgres() throws Exception {
        twoAreOne(PostgresServer.shared().createDatabase());
    }

    @Test
    @DisplayName("C1 two on MariaDB are one gateway")
    void mariaDb() throws Exception {
        twoAreOne(MariaDbServer.shared().createDatabase());
    }

    @Test
    @DisplayName("C1 two on MySQL are one gateway")
    void mySql() throws Exception {
        twoAreOne(MySqlServer.shared().createDatabase());
    }

    @Test
    @DisplayName("C1 two on Redis are one gateway")
    void redis() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            twoAreOne(server.url());
        }
    }

    @Test
    @DisplayName(
            "D9 the database is stopped: 503 with Retry-After and nothing runs, the rest goes on; it recovers by itself")
    void databaseStopped() throws Exception {
        try (DatabaseServer postgres = PostgresServer.start();
                CountingUpstream upstream = new CountingUpstream();
                Running gateway = gateway("one", upstream, postgres.createDatabase())) {
            assertThat(gateway.post("/payments", "before", "{}").statusCode()).isEqualTo(201);
            postgres.stop();
            HttpResponse<String> refused = gateway.post("/payments", "during", "{}");
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            assertThat(upstream.effects("during")).isZero();
            assertThat(gateway.get("/things").statusCode()).isEqualTo(201);
            assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/health/ready")))
                            .statusCode())
                    .isEqualTo(503);
            postgres.restart();
            Eventually.eventually(
                    () -> assertThat(gateway.post("/payments", "during", "{}").statusCode())
                            .isEqualTo(201));
            assertThat(upstream.effects("during")).isEqualTo(1);
            assertThat(gateway.post("/payments", "before", "{}").headers().firstValue("Idempotent-Replayed"))
                    .hasValue("true");
        }
    }
}
