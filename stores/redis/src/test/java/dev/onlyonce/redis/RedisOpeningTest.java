package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What opening a store says when something is wrong. */
@DisplayName("Opening a Redis store")
class RedisOpeningTest {
    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start("requirepass secret-1");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String url(String password) {
        return "redis://:" + password + "@127.0.0.1:" + server.port();
    }

    @Test
    @DisplayName("works with the password")
    void works() {
        try (RedisStore store = RedisStore.open(url("secret-1"))) {
            assertThat(store.find(List.of(new EntryId("a", "", "b"))).get(0)).isEmpty();
            assertThat(store.acceptedRisks()).isEmpty();
        }
    }

    @Test
    @DisplayName("with a wrong password or none says so, and does not repeat it")
    void credentials() {
        assertThatThrownBy(() -> RedisStore.open(url("wrong-2")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("127.0.0.1:" + server.port())
                .hasMessageContaining("WRONGPASS")
                .hasMessageNotContaining("wrong-2");
        assertThatThrownBy(() -> RedisStore.open(server.url()))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("NOAUTH");
    }

    @Test
    @DisplayName("where nobody listens says where it looked")
    void unreachable() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        assertThatThrownBy(() -> RedisStore.open("redis://127.0.0.1:" + port))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("127.0.0.1:" + port)
                .hasMessageContaining("Connection refused");
    }

    @Test
    @DisplayName("over TLS on a server without says that it is about TLS")
    void tls() {
        assertThatThrownBy(() -> RedisStore.open("rediss://:secret-1@127.0.0.1:" + server.port()))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("127.0.0.1:" + server.port())
                .hasMessageContaining("TLS");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:6379", "redis://:pass/word@host:6379", "127.0.0.1:6379", "redis://"})
    @DisplayName("with a URL that is none says what one looks like, and does not repeat it")
    void malformed(String url) {
        assertThatThrownBy(() -> RedisStore.open(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("redis://user:password@host:port")
                .hasMessageNotContaining("pass/word");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis://127.0.0.1:6379/2", "redis-sentinel://127.0.0.1:6379/12#payments"})
    @DisplayName("with the number of a database is refused, and not taken for database 0")
    void database(String url) {
        assertThatThrownBy(() -> RedisStore.open(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("database 0")
                .hasMessageContaining("prefix");
        assertThat(RedisStore.builder("redis://127.0.0.1:6379/0")).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis-sentinel://s1:1,s2:2?replicas=1&prefix=a#payments",
                "redis-sentinel://s1:1,s2:2#payments?replicas=1&prefix=a"
            })
    @DisplayName("with the name of a Sentinel's master before or after its settings works")
    void sentinelUrl(String url) {
        RedisUrl read = RedisUrl.of(url);
        assertThat(read.settings()).containsExactly("replicas=1", "prefix=a");
        assertThat(read.servers()).hasSize(1);
        assertThat(read.servers().get(0).getSentinelMasterId()).isEqualTo("payments");
        assertThat(read.servers().get(0).getSentinels()).hasSize(2);
        assertThat(RedisStore.builder(url)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"replicas=one", "acceptDataLoss=ture", "evict=no", "timeout=", ""})
    @DisplayName("with a setting in its URL that does not exist says which there are")
    void settings(String setting) {
        assertThatThrownBy(() -> RedisStore.builder(url("secret-1") + "?" + setting))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + setting + "\"")
                .hasMessageContaining("acceptDataLoss=true")
                .hasMessageNotContaining("secret-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis://127.0.0.1?password=s3cret", "redis://:pass?s3cret@127.0.0.1"})
    @DisplayName("with a password where settings belong does not repeat it")
    void passwordInSettings(String url) {
        assertThatThrownBy(() -> RedisStore.builder(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("***")
                .hasMessageNotContaining("s3cret")
                .hasRootCauseMessage("no such setting");
    }

    @Test
    @DisplayName("with settings in its URL and the password beside it works")
    void settingsInUrl() {
        RedisStore.builder(server.url() + "?prefix=apart&partitions=2&timeout=5s&replicas=0&auditRecordsMax=10")
                .credentials(null, "secret-1")
                .build()
                .close();
        assertThatThrownBy(() -> RedisStore.open(url("secret-1") + "?prefix=apart&partitions=3"))
                .isInstanceOf(StoreRejected.class);
    }

    @Test
    @DisplayName("with another number of partitions than the entries have is refused; without one it takes theirs")
    void partitions() {
        RedisStore.builder(url("secret-1")).prefix("few").partitions(4).build().close();
        assertThatThrownBy(() -> RedisStore.builder(url("secret-1"))
                        .prefix("few")
                        .partitions(64)
                        .build())
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("partitions 4")
                .hasMessageContaining("partitions 64")
                .hasMessageContaining("leave the number of partitions out");
        ClaimRequest claim = Calls.claim("key");
        try (RedisStore one = RedisStore.builder(url("secret-1")).prefix("few").build();
                RedisStore other = RedisStore.builder(url("secret-1"))
                        .prefix("few")
                        .partitions(4)
                        .build()) {
            one.claim(List.of(claim));
            assertThat(other.find(List.of(claim.id())).get(0)).isPresent();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"appendonly no", "maxmemory-policy allkeys-lru"})
    @DisplayName(
            "E2 on a server that evicts or does not write to disk is refused with what to set, unless the risk is accepted")
    void durability(String setting) {
        String name = setting.split(" ")[0];
        try (RedisServer unsafe = RedisServer.start(setting)) {
            assertThatThrownBy(() -> RedisStore.open(unsafe.url()))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("set " + name + " to ")
                    .hasMessageContaining("acceptDataLoss");
            try (RedisStore store =
                    RedisStore.builder(unsafe.url()).acceptDataLoss(true).build()) {
                assertThat(store.acceptedRisks()).hasSize(1).first().asString().contains(name);
            }
        }
    }

    @Test
    @DisplayName("E2 on a replica is refused")
    void replica() {
        try (RedisServer master = RedisServer.start();
                RedisServer replica = RedisServer.start("replicaof 127.0.0.1 " + master.port())) {
            replica.await("master_link_status:up", "INFO", "replication");
            assertThatThrownBy(() -> RedisStore.open(replica.url()))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("replica");
        }
    }

    @Test
    @DisplayName("C1 E2 with several servers that are no cluster is refused: two nodes would claim a key on each")
    void severalServers() {
        try (RedisServer first = RedisServer.start();
                RedisServer second = RedisServer.start()) {
            String url = first.url() + ",127.0.0.1:" + second.port();
            Runnable open = () -> RedisStore.open(url).close();
            assertThatThrownBy(open::run)
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("not part of a cluster");
            first.kill();
            assertThatThrownBy(open::run)
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("127.0.0.1:" + second.port() + " is not part of a cluster");
        }
    }

    @Test
    @DisplayName(
            "E2 is not all: a server whose settings become unsafe is refused after the next reconnection, and taken again")
    void reconnection() {
        try (RedisServer changed = RedisServer.start();
                RedisStore store = RedisStore.open(changed.url())) {
            changed.command("CONFIG", "SET", "appendonly", "no");
            changed.command("CLIENT", "KILL", "TYPE", "normal");
            Calls.until(StoreUnavailable.class, "set appendonly to yes", () -> store.sweep(1));
            changed.command("CONFIG", "SET", "appendonly", "yes");
            assertThat(store.sweep(1)).isEmpty();
        }
    }

    @Test
    @DisplayName("E2 with fsynced on a server that cannot tell what is on disk says which version can")
    void fsynced() {
        // Until: the server may just be closing the connections of an earlier test's user.
        Calls.until(
                StoreUnavailable.class,
                "needs Redis 7.2 or later, or Valkey, for WAITAOF; this server is 7.0.15. Set appendfsync",
                () -> RedisStore.open(url("secret-1") + "?fsynced=true").close());
        assertThat(List.of("7.2.0", "7.4.1", "8.0.0", "10.1")).allMatch(ServerCheck::hasWaitaof);
        assertThat(List.of("7.0.15", "6.2.14", "7.1.240", "?")).noneMatch(ServerCheck::hasWaitaof);
    }

    @Test
    @DisplayName("waits with WAIT for replicas, and with WAITAOF for disks")
    void waitCommands() {
        var replicas = new Replicas.Wanted(2, false, Duration.ofSeconds(1)).command(250);
        var disks = new Replicas.Wanted(1, true, Duration.ofSeconds(1)).command(250);
        assertThat(new String(replicas.getType().getBytes(), StandardCharsets.US_ASCII))
                .isEqualTo("WAIT");
        assertThat(replicas.getArgs().toCommandString()).isEqualTo("2 250");
        assertThat(new String(disks.getType().getBytes(), StandardCharsets.US_ASCII))
                .isEqualTo("WAITAOF");
        assertThat(disks.getArgs().toCommandString()).isEqualTo("1 1 250");
    }

    @Test
    @DisplayName("over TLS with a certificate that this JVM does not trust says so")
    void untrusted(@TempDir Path folder) throws Exception {
        Path store = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "redis",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        "changeit")
                .redirectErrorStream(true)
                .start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, "changeit".toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, "changeit".toCharArray());
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(managers.getKeyManagers(), null, null);
        Thread accepting;
        try (ServerSocket socket =
                tls.getServerSocketFactory().createServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            accepting = new Thread(() -> accept(socket));
            accepting.start();
            assertThatThrownBy(() -> RedisStore.builder("rediss://127.0.0.1:" + socket.getLocalPort())
                            .timeout(Duration.ofSeconds(60))
                            .build())
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("over TLS")
                    .hasMessageContaining("does this JVM trust its certificate")
                    .hasMessageContaining("unable to find valid certification path");
        }
        accepting.join();
    }

    /** Shakes hands with everybody until the socket is closed. */
    private static void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try (Socket client = socket.accept()) {
                client.getInputStream().read();
            } catch (IOException e) {
                // The client hangs up, or the test is over.
            }
        }
    }
}
