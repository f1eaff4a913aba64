package dev.onlyonce.redis;

import static dev.onlyonce.redis.CachedStores.state;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.FaultyStore;
import dev.onlyonce.testkit.Verb;
import dev.onlyonce.testservers.RedisCluster;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redis is killed, hangs, forgets everything, or is not there when the node starts. */
@DisplayName("A shared cache in trouble")
class CacheOutageTest {
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private final CachedStores stores = new CachedStores();
    private final Time time = Time.system();
    private final FaultyStore origin = new FaultyStore(new MemoryStore(time));
    private final CachedStore node = stores.node(
            CachedStore.builder(origin, CachedStores.options(stores.server.url()))
                    .timeout(TIMEOUT),
            time);

    @AfterEach
    void close() {
        stores.close();
        time.close();
    }

    private State claim(String key) {
        State found = state(node.claim(List.of(Calls.claim(key))).get(0));
        node.awaitWrites();
        return found;
    }

    private void settle(String key) {
        ClaimRequest claim = Calls.claim(key);
        assertThat(node.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        node.settle(List.of(Calls.completed(claim)));
    }

    /** Asks until an answer comes from the cache. */
    private void untilReplayed(String key) {
        long giveUp = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        long before = node.cache().orElseThrow().replayed();
        while (node.cache().orElseThrow().replayed() == before) {
            assertThat(claim(key)).isEqualTo(State.COMPLETED);
            assertThat(System.nanoTime() - giveUp).isNegative();
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    @Test
    @DisplayName("E3 that is killed costs nothing but the store's calls, and serves again when it is back")
    void killed() {
        settle("k-1");
        untilReplayed("k-1");
        stores.server.kill();
        settle("k-2");
        assertThat(claim("k-1")).isEqualTo(State.COMPLETED);
        assertThat(claim("k-2")).isEqualTo(State.COMPLETED);
        assertThat(node.cache().orElseThrow().well()).isFalse();
        stores.server.restart();
        untilReplayed("k-1");
        assertThat(node.cache().orElseThrow().well()).isTrue();
    }

    @Test
    @DisplayName("E3 that forgets everything is filled again")
    void flushed() {
        settle("k-1");
        untilReplayed("k-1");
        stores.redis().flushall();
        stores.redis().scriptFlush();
        int before = origin.calls(Verb.CLAIM);
        assertThat(claim("k-1")).isEqualTo(State.COMPLETED);
        assertThat(origin.calls(Verb.CLAIM)).isEqualTo(before + 1);
        untilReplayed("k-1");
    }

    @Test
    @DisplayName("E3 that hangs costs one time-out a second on the node, not one a request")
    void hangs() throws Exception {
        settle("k-1");
        untilReplayed("k-1");
        String process = process();
        signal("STOP", process);
        try {
            long begun = System.nanoTime();
            for (int i = 0; i < 200; i++) {
                assertThat(state(node.claim(List.of(Calls.claim("k-1"))).get(0)))
                        .isEqualTo(State.COMPLETED);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as("200 requests without their own time-outs of %s", TIMEOUT)
                    .isLessThan(TIMEOUT.multipliedBy(20));
            assertThat(node.cache().orElseThrow().well()).isFalse();
        } finally {
            signal("CONT", process);
        }
        untilReplayed("k-1");
    }

    private String process() {
        return stores.redis()
                .info("server")
                .lines()
                .filter(line -> line.startsWith("process_id:"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElseThrow();
    }

    private static void signal(String name, String process) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, process).start().waitFor())
                .isZero();
    }

    @Test
    @DisplayName("is not left alone because one caller was interrupted")
    void interruptedCaller() {
        settle("k-1");
        untilReplayed("k-1");
        Thread.currentThread().interrupt();
        assertThat(state(node.claim(List.of(Calls.claim("k-1"))).get(0))).isEqualTo(State.COMPLETED);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(node.cache().orElseThrow().well()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"$-1\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "*1\r\n$-1\r\n", ":0\r\n"})
    @DisplayName("E3 that is something else than Redis does not keep a node from starting")
    void somethingElse(String reply) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread answering = new Thread(() -> answer(server, reply));
            answering.setDaemon(true);
            answering.start();
            CachedStore astray = stores.node(
                    CachedStore.builder(origin, CachedStores.options("redis://127.0.0.1:" + server.getLocalPort())),
                    time);
            assertThat(astray.claim(List.of(Calls.claim("k-1")))).containsExactly(new ClaimResult.Claimed(1));
            assertThat(astray.cache().orElseThrow().well()).isFalse();
        }
    }

    /** Answers every command in the same way. */
    private static void answer(ServerSocket server, String reply) {
        try {
            while (!server.isClosed()) {
                Socket socket = server.accept();
                Thread commands = new Thread(() -> answer(socket, reply));
                commands.setDaemon(true);
                commands.start();
            }
        } catch (IOException e) {
            // The test is over.
        }
    }

    private static void answer(Socket socket, String reply) {
        try (socket;
                BufferedReader lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("*")) {
                    socket.getOutputStream().write(reply.getBytes(US_ASCII));
                }
            }
        } catch (IOException e) {
            // The other side has gone.
        }
    }

    @Test
    @DisplayName("E3 that is not there when the node starts is used as soon as it is")
    void late() {
        stores.server.kill();
        CachedStore early = stores.node(CachedStore.builder(origin, CachedStores.options(stores.server.url())), time);
        ClaimRequest claim = Calls.claim("k-1");
        assertThat(early.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        early.settle(List.of(Calls.completed(claim)));
        assertThat(early.cache().orElseThrow().well()).isFalse();
        stores.server.restart();
        long giveUp = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (early.cache().orElseThrow().replayed() == 0) {
            assertThat(state(early.claim(List.of(Calls.claim("k-1"))).get(0))).isEqualTo(State.COMPLETED);
            assertThat(System.nanoTime() - giveUp).isNegative();
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "too short to be a secret of ours"})
    @DisplayName("E3 is refused without a secret: whoever can write to Redis could make up answers")
    void secret(String secret) {
        String given = secret.isEmpty() ? null : secret.substring(1);
        CacheOptions options = new CacheOptions(stores.server.url(), "test", null, given);
        assertThatThrownBy(() -> CachedStore.builder(origin, options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 32 characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"freshFor=0.5s", "freshFor=31s", "timeout=0s", "timeout=soon", "prefix=x", "freshFor"})
    @DisplayName("is refused with settings that are none")
    void settings(String setting) {
        CacheOptions options = CachedStores.options(stores.server.url() + "?" + setting);
        assertThatThrownBy(() -> CachedStore.builder(origin, options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("freshFor=5s");
    }

    @Test
    @DisplayName("may be a cluster: the keys of a batch are on all of its servers")
    void cluster() {
        try (RedisCluster cluster = RedisCluster.start()) {
            CachedStore spread = stores.node(
                    CachedStore.builder(origin, CachedStores.options(cluster.url()))
                            .timeout(Duration.ofSeconds(10)),
                    time);
            List<ClaimRequest> claims =
                    IntStream.range(0, 50).mapToObj(i -> Calls.claim("k-" + i)).toList();
            spread.claim(claims);
            spread.settle(claims.stream().map(Calls::completed).toList());
            long giveUp = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            while (spread.cache().orElseThrow().replayed() < claims.size()) {
                assertThat(spread.claim(claims.stream()
                                .map(claim -> Calls.claim(claim.id().key()))
                                .toList()))
                        .allSatisfy(result -> assertThat(state(result)).isEqualTo(State.COMPLETED));
                assertThat(System.nanoTime() - giveUp).isNegative();
            }
            assertThat(spread.cache().orElseThrow().failed()).isZero();
        }
    }

    @Test
    @DisplayName("has the settings and defaults that the guide shows")
    void guide() throws IOException {
        List<MatchResult> rows = Pattern.compile("^\\| `(\\w+)` \\| `([\\w.]+)` \\|", Pattern.MULTILINE)
                .matcher(Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/shared-cache.md")))
                .results()
                .toList();
        assertThat(rows).hasSize(2);
        for (MatchResult row : rows) {
            CacheOptions options = CachedStores.options("redis://host:1?" + row.group(1) + "=" + row.group(2));
            assertThat(CachedStore.builder(origin, options))
                    .usingRecursiveComparison()
                    .ignoringFields("url", "seal")
                    .isEqualTo(CachedStore.builder(origin, CachedStores.options("redis://host:1")));
        }
    }

    @Test
    @DisplayName("is refused without a name for the store")
    void name() {
        CacheOptions options = new CacheOptions(stores.server.url(), " ", null, CachedStores.SECRET);
        assertThatThrownBy(() -> CachedStore.builder(origin, options)).hasMessageContaining("needs a name");
    }
}
