package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.redis.CachedStore;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testservers.RedisServer;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

@DisplayName("Applications with a shared cache")
class SharedCacheStartUpTest extends StartUp {
    private static final Key KEY = Key.of("acme", "book", "k-1");
    private static final String SECRET = "onlyonce.cache.secret=0123456789abcdef0123456789abcdef";

    private static Outcome<String> book(Onlyonce once) {
        byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
        return once.execute(KEY, Fingerprint.of(body), Codec.text(), claim -> "booked");
    }

    @Test
    @DisplayName("R1 W1 replay what another has read, and execute in their database's transactions as before")
    void replays() {
        DataSource h2 = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (RedisServer server = RedisServer.start("appendonly no")) {
            WebApplicationContextRunner app = runner.withBean(DataSource.class, () -> h2)
                    .withPropertyValues(
                            "onlyonce.cache.url=" + server.url() + "?timeout=5s",
                            "onlyonce.cache.name=bookings",
                            SECRET);
            app.run(one -> app.run(two -> app.run(three -> {
                Onlyonce last = three.getBean(Onlyonce.class);
                assertThat(book(one.getBean(Onlyonce.class))).isInstanceOf(Outcome.Executed.class);
                assertThat(book(two.getBean(Onlyonce.class))).isInstanceOf(Outcome.Replayed.class);
                assertThat(book(last)).isInstanceOf(Outcome.Replayed.class);
                assertThat(last.registry().cache().orElseThrow().replayed()).isEqualTo(1);
                assertThat(last.registry().store()).isInstanceOf(SqlStore.class);
            })));
        }
    }

    @Test
    @DisplayName("E3 are refused without a secret, a name, or the cache's module")
    void refused() {
        WebApplicationContextRunner memory = runner.withPropertyValues("onlyonce.store=memory");
        refuses(
                memory.withPropertyValues("onlyonce.cache.url=redis://127.0.0.1:1", "onlyonce.cache.name=bookings"),
                "needs a secret of at least 32 characters",
                "onlyonce.cache.secret");
        refuses(
                memory.withPropertyValues("onlyonce.cache.url=redis://127.0.0.1:1", SECRET),
                "needs a name",
                "onlyonce.cache.name");
        refuses(
                memory.withPropertyValues("onlyonce.cache.url=etcd://127.0.0.1:1", "onlyonce.cache.name=a", SECRET),
                "no module on the class path has a cache",
                "onlyonce-redis");
    }

    @Test
    @DisplayName("find code in the guide that compiles")
    void guide(@TempDir Path folder) throws Exception {
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/shared-cache.md"));
        Matcher code = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL).matcher(page);
        assertThat(code.find()).isTrue();
        Path source = Files.writeString(folder.resolve("Guide.java"), """
                import dev.onlyonce.Onlyonce;
                import dev.onlyonce.redis.CachedStore;
                import dev.onlyonce.sql.SqlStore;
                import dev.onlyonce.store.CacheOptions;
                import dev.onlyonce.store.Store;
                class Guide {
                    Onlyonce open(javax.sql.DataSource dataSource) {
                %s
                        return once;
                    }
                }
                """.formatted(code.group(1)));
        StringJoiner classPath = new StringJoiner(File.pathSeparator);
        for (Class<?> type : List.of(Onlyonce.class, CachedStore.class, SqlStore.class, Nullable.class)) {
            classPath.add(Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString());
        }
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-cp", classPath.toString(), source.toString());
        assertThat(result).isZero();
    }
}
