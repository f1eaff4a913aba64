package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import dev.onlyonce.testservers.RedisServer;
import dev.onlyonce.testservers.TestAuthority;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Order(1)
@DisplayName("A store on a Redis with TLS")
class RedisTlsTest {
    @TempDir
    static Path folder;

    private static TestAuthority authority;
    private static RedisServer server;
    private static int port;

    @BeforeAll
    static void start() throws IOException {
        authority = TestAuthority.in(folder);
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        server = RedisServer.start(
                "tls-port " + port,
                "tls-cert-file " + authority.certificate(),
                "tls-key-file " + authority.key(),
                "tls-ca-cert-file " + authority.ca(),
                "tls-auth-clients no");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Calls with another trust store of the JVM. */
    private static <T> T trusting(Path store, Supplier<T> call) {
        Map<String, String> properties = Map.of(
                "javax.net.ssl.trustStore",
                store.toString(),
                "javax.net.ssl.trustStorePassword",
                TestAuthority.PASSWORD);
        Map<String, Optional<String>> before = new HashMap<>();
        properties.forEach((name, value) -> before.put(name, Optional.ofNullable(System.setProperty(name, value))));
        try {
            return call.get();
        } finally {
            before.forEach((name, value) ->
                    value.ifPresentOrElse(old -> System.setProperty(name, old), () -> System.clearProperty(name)));
        }
    }

    @Test
    @DisplayName("works if the JVM trusts the authority that issued the server's certificate")
    void right() {
        try (RedisStore store = trusting(authority.trust(), () -> RedisStore.open("rediss://127.0.0.1:" + port))) {
            assertThat(store.claim(List.of(Calls.claim("key")))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName("works with the authority that the URL names, and trusts no other")
    void ownAuthority(@TempDir Path elsewhere) {
        String url = "rediss://127.0.0.1:" + port + "?ca=";
        try (RedisStore store = RedisStore.open(url + authority.ca())) {
            assertThat(store.claim(List.of(Calls.claim("own")))).containsExactly(new ClaimResult.Claimed(1));
        }
        Path other = TestAuthority.in(elsewhere).ca();
        assertThatThrownBy(() -> trusting(authority.trust(), () -> RedisStore.open(url + other)))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("over TLS")
                .hasMessageContaining("Signature does not match");
    }

    @Test
    @DisplayName("E2 is refused with the name of the file if the authorities cannot be read")
    void noAuthorities() throws IOException {
        String url = "rediss://127.0.0.1:" + port + "?ca=";
        Path garbage = Files.writeString(folder.resolve("garbage.pem"), "no certificate");
        for (Path file : List.of(garbage, folder.resolve("missing.pem"))) {
            assertThatThrownBy(() -> RedisStore.open(url + file))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("The certificates in " + file + " (ca=) cannot be read");
            CacheOptions cache = new CacheOptions(url + file, "store", null, "a secret of more than 32 characters");
            assertThatThrownBy(() -> CachedStore.builder(new MemoryStore(Time.system()), cache)
                            .build())
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("The certificates in " + file);
        }
        for (String wrong : List.of("redis://127.0.0.1?ca=ca.pem", "rediss://127.0.0.1?ca=")) {
            assertThatThrownBy(() -> RedisStore.builder(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("ca=/etc/ssl/redis-ca.pem after rediss://");
        }
    }

    @Test
    @DisplayName("serves as a cache with the authority that the URL names")
    void cache() {
        CacheOptions options = new CacheOptions(
                "rediss://127.0.0.1:" + port + "?timeout=20s&ca=" + authority.ca(),
                "store",
                null,
                "a secret of more than 32 characters");
        try (CachedStore cached =
                CachedStore.builder(new MemoryStore(Time.system()), options).build()) {
            assertThat(cached.cache().orElseThrow().well()).isTrue();
        }
    }

    @Test
    @DisplayName("E2 is refused with the reason if the certificate comes from another authority")
    void wrongAuthority(@TempDir Path elsewhere) {
        Path other = TestAuthority.in(elsewhere).trust();
        assertThatThrownBy(() -> trusting(other, () -> RedisStore.open("rediss://127.0.0.1:" + port)))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("over TLS (does that port speak TLS, and does this JVM trust its certificate?")
                .hasMessageContaining("Signature does not match");
    }

    @Test
    @DisplayName("E2 is refused, and the message asks about TLS, if one side speaks it and the other does not")
    void halves() {
        assertThatThrownBy(() -> RedisStore.open("redis://127.0.0.1:" + port))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("127.0.0.1:" + port)
                .hasMessageContaining("rediss://");
        assertThatThrownBy(
                        () -> trusting(authority.trust(), () -> RedisStore.open("rediss://127.0.0.1:" + server.port())))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("does that port speak TLS");
    }
}
