package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.server.config.CacheSettings;
import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.testservers.RedisServer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Gateways with a shared cache")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SharedCacheTest {
    private RedisServer store;

    @BeforeAll
    void start() {
        store = RedisServer.start();
    }

    @AfterAll
    void stop() {
        store.close();
    }

    private static Path folder(Path parent, String name) throws Exception {
        Path own = Files.createDirectory(parent.resolve(name));
        Path secret = Files.writeString(own.resolve("cache-secret"), "0123456789abcdef0123456789abcdef\n");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        return own;
    }

    private Running gateway(Path folder, CountingUpstream upstream, RedisServer cache) {
        return Running.start(
                folder,
                upstream.url(),
                "store: {url: '" + store.url() + "'}\ncache: {url: '" + cache.url()
                        + "?timeout=5s', name: payments, secret-file: cache-secret}");
    }

    private static String metric(Running gateway, String name) throws Exception {
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        return metrics.lines()
                .filter(line -> line.startsWith("api_idempotency_cache_" + name + "_total "))
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @DisplayName("R1 F1 replay what another has read, count it, and tell another request")
    void replays(@TempDir Path parent) throws Exception {
        try (RedisServer cache = RedisServer.start("appendonly no");
                CountingUpstream upstream = new CountingUpstream();
                Running one = gateway(folder(parent, "one"), upstream, cache);
                Running two = gateway(folder(parent, "two"), upstream, cache);
                Running three = gateway(folder(parent, "three"), upstream, cache)) {
            HttpResponse<String> first = one.post("/payments", "k1", "{\"a\":1}");
            two.post("/payments", "k1", "{\"a\":1}");
            HttpResponse<String> replayed = three.post("/payments", "k1", "{\"a\":1}");
            assertThat(replayed.headers().firstValue("Idempotent-Replayed")).hasValue("true");
            assertThat(replayed.body()).isEqualTo(first.body());
            assertThat(metric(two, "missed")).isEqualTo("1.0");
            assertThat(metric(three, "replayed")).isEqualTo("1.0");
            assertThat(three.post("/payments", "k1", "{\"a\":2}").statusCode()).isEqualTo(422);
            assertThat(upstream.effects("k1")).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("E3 serve and stay ready when it is gone")
    void gone(@TempDir Path parent) throws Exception {
        try (RedisServer cache = RedisServer.start("appendonly no");
                CountingUpstream upstream = new CountingUpstream();
                Running one = gateway(folder(parent, "one"), upstream, cache);
                Running two = gateway(folder(parent, "two"), upstream, cache)) {
            cache.kill();
            one.post("/payments", "k2", "{}");
            assertThat(two.post("/payments", "k2", "{}").headers().firstValue("Idempotent-Replayed"))
                    .hasValue("true");
            assertThat(upstream.effects("k2")).isEqualTo(1);
            assertThat(two.send(HttpRequest.newBuilder(two.admin("/health/ready")))
                            .statusCode())
                    .isEqualTo(200);
            assertThat(metric(two, "failed")).isEqualTo("1.0");
        }
    }

    @Test
    @DisplayName("stay ready while many evictions wait")
    void evictions(@TempDir Path parent) throws Exception {
        try (RedisServer cache = RedisServer.start("appendonly no");
                CountingUpstream upstream = new CountingUpstream();
                Running one = gateway(folder(parent, "one"), upstream, cache)) {
            String token = Files.readString(one.data().resolve("admin-token")).strip();
            for (int i = 0; i < 10; i++) {
                one.post("/payments", "evicted-" + i, "{}");
            }
            List<CompletableFuture<HttpResponse<String>>> evictions = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                HttpRequest evict = HttpRequest.newBuilder(one.admin("/v1/keys/evict"))
                        .header("Authorization", "Bearer " + token)
                        .POST(HttpRequest.BodyPublishers.ofString("{\"key\":{\"tenant\":\"default\",\"key\":\"evicted-"
                                + i + "\"},\"reason\":\"a test\"}"))
                        .build();
                evictions.add(one.client().sendAsync(evict, HttpResponse.BodyHandlers.ofString()));
            }
            assertThat(one.send(HttpRequest.newBuilder(one.admin("/health/ready")))
                            .statusCode())
                    .isEqualTo(200);
            assertThat(evictions).as("they wait").noneMatch(CompletableFuture::isDone);
            for (CompletableFuture<HttpResponse<String>> eviction : evictions) {
                assertThat(eviction.get(60, TimeUnit.SECONDS).body()).contains("evicted");
            }
        }
    }

    @Test
    @DisplayName("are configured as the guide shows")
    void guide(@TempDir Path parent) throws Exception {
        String page = Files.readString(ConfigFileTest.root().resolve("docs/guides/shared-cache.md"));
        String yaml = page.substring(page.indexOf("```yaml") + 7, page.indexOf("```", page.indexOf("```yaml") + 7));
        Path file = Files.writeString(
                folder(parent, "one").resolve("gateway.yaml"),
                "upstreams: [{url: http://a}]\nstore: {url: 'redis://a'}\n" + yaml);
        CacheSettings cache = ConfigFile.read(file).cache();
        assertThat(cache)
                .isEqualTo(new CacheSettings("redis://127.0.0.1:6379", "payments", "0123456789abcdef0123456789abcdef"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cache: {url: 'redis://a', name: a, secret-file: cache-secret}                                | SQLite belongs to one gateway
            store: {url: 'redis://a'}~cache: {url: 'redis://a', name: a}                                  | a shared cache needs a secret
            store: {url: 'redis://a'}~cache: {url: 'redis://a', secret-file: cache-secret}                | "name" is missing
            store: {url: 'redis://a'}~cache: {url: 'http://a', name: a, secret-file: cache-secret}        | this is not the URL of a cache
            """)
    @DisplayName("are refused with a configuration that is wrong")
    void wrong(String yaml, String message, @TempDir Path parent) throws Exception {
        Path folder = folder(parent, "one");
        try (CountingUpstream upstream = new CountingUpstream()) {
            assertThatThrownBy(() -> Running.start(folder, upstream.url(), yaml.replace('~', '\n'))
                            .close())
                    .hasMessageContaining(message);
        }
    }
}
