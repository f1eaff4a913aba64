package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.CallResult.Refused;
import dev.onlyonce.client.journal.SqliteJournal;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Over TLS and through proxies")
class TlsAndProxyTest {
    private static final char[] PASSWORD = "password".toCharArray();
    private static SSLContext trusting;

    @TempDir
    private Path folder;

    private final ScriptedServer proxy = new ScriptedServer();
    private final List<String> keys = new CopyOnWriteArrayList<>();
    private HttpsServer server;

    @BeforeAll
    static void certify(@TempDir Path folder) throws Exception {
        trusting = selfSigned(folder.resolve("keys.p12"));
    }

    @BeforeEach
    void start() throws Exception {
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(trusting));
        server.createContext("/pay", exchange -> {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(201, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        proxy.close();
    }

    /** A context that has a certificate for 127.0.0.1 and trusts it. */
    private static SSLContext selfSigned(Path file) throws Exception {
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "SAN=ip:127.0.0.1",
                        "-alias",
                        "self",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD),
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        keytool.getInputStream().readAllBytes();
        assertThat(keytool.waitFor()).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("self", store.getCertificate("self"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(store, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private RetryingClient client(HttpClient.Builder http, boolean expectContinue) {
        return RetryingClient.builder(SqliteJournal.open(folder.resolve("journal")))
                .time(new ManualClientTime())
                .http(http.build())
                .expectContinue(expectContinue)
                .build();
    }

    private HttpClient.Builder throughProxy() {
        return HttpClient.newBuilder()
                .sslContext(trusting)
                .proxy(ProxySelector.of(new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), proxy.url("/").getPort())));
    }

    private CallRequest secure() {
        return CallRequest.post(
                URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/pay"), "{}");
    }

    @Test
    @DisplayName(
            "X4 a certificate that is not trusted is no doubt: nothing was sent, and the key waits for a better trust store")
    void certificates() throws Exception {
        String key;
        try (RetryingClient client = client(HttpClient.newBuilder(), false)) {
            InDoubt doubt = (InDoubt) client.send("order-1", secure());
            assertThat(doubt.mayHaveHappened()).isFalse();
            assertThat(doubt.reason()).isEqualTo(Reason.ATTEMPTS);
            assertThat(doubt.toString()).contains("certification path", "nothing was sent", "has not taken effect");
            assertThat(keys).isEmpty();
            key = client.pending().get(0).key();
        }
        try (RetryingClient client = client(HttpClient.newBuilder().sslContext(trusting), false)) {
            assertThat(client.resume("order-1")).isInstanceOf(Done.class);
            assertThat(keys).containsExactly(key);
        }
    }

    @Test
    @DisplayName("a forward proxy gets the whole request with its key, and its errors are retried with that key")
    void forward() throws Exception {
        proxy.then(status(502, "no route"));
        try (RetryingClient client = client(throughProxy(), false)) {
            assertThat(client.send("order-1", CallRequest.post(URI.create("http://bank.invalid/pay"), "{}")))
                    .isInstanceOf(Done.class);
        }
        assertThat(proxy.received()).hasSize(2).allSatisfy(received -> {
            assertThat(received.line()).isEqualTo("POST http://bank.invalid/pay HTTP/1.1");
            assertThat(received.key()).isEqualTo(proxy.received().get(0).key()).isNotEmpty();
            assertThat(received.body()).hasSize(2);
        });
    }

    @Test
    @DisplayName("a proxy that wants credentials refuses for now: the same id can be sent again, with the same key")
    void credentials() throws Exception {
        proxy.then(status(407, "", "Proxy-Authenticate", "Negotiate"));
        try (RetryingClient client = client(throughProxy(), false)) {
            CallRequest request = CallRequest.post(URI.create("http://bank.invalid/pay"), "{}");
            assertThat(client.send("order-1", request)).isInstanceOf(Refused.class);
            assertThat(client.send("order-1", request)).isInstanceOf(Done.class);
        }
        assertThat(proxy.received()).hasSize(2);
        assertThat(proxy.received().get(1).key())
                .isEqualTo(proxy.received().get(0).key());
    }

    @Test
    @DisplayName("a tunnel hides the key from the proxy, and a tunnel that is refused is tried again")
    void tunnel() throws Exception {
        try (Tunnel tunnel = new Tunnel(1)) {
            HttpClient.Builder http = HttpClient.newBuilder()
                    .sslContext(trusting)
                    .proxy(ProxySelector.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), tunnel.port())));
            try (RetryingClient client = client(http, false)) {
                CallResult result = client.send("order-1", secure());
                assertThat(result).isInstanceOf(Done.class);
                assertThat(result.attempts()).hasSize(2);
            }
            assertThat(keys).hasSize(1);
            assertThat(tunnel.heads())
                    .hasSize(2)
                    .allSatisfy(head -> assertThat(head)
                            .startsWith(
                                    "CONNECT 127.0.0.1:" + server.getAddress().getPort())
                            .doesNotContain(keys.get(0)));
        }
    }

    @Test
    @DisplayName("a body waits for 100 (Continue), and a server that refuses before it never gets the body")
    void expectContinue() throws Exception {
        try (ContinueServer careful = new ContinueServer();
                RetryingClient client = client(HttpClient.newBuilder(), true)) {
            careful.refuseNext();
            Refused refused = (Refused) client.send("order-1", CallRequest.post(careful.url(), "{\"cents\":1}"));
            assertThat(refused.response().status()).isEqualTo(413);
            assertThat(careful.nextBody()).isEmpty();
            assertThat(client.send("order-2", CallRequest.post(careful.url(), "{\"cents\":2}")))
                    .isInstanceOf(Done.class);
            assertThat(careful.nextBody()).isEqualTo("{\"cents\":2}");
        }
    }

    @Test
    @DisplayName("a server that cannot say 100 (Continue) and answers 417 is asked again without it, with the same key")
    void expectationRefused() throws Exception {
        List<String> heads = new CopyOnWriteArrayList<>();
        try (SocketServer old = new SocketServer(socket -> {
                    String head = SocketServer.head(socket.getInputStream()).toLowerCase(Locale.ROOT);
                    heads.add(head);
                    boolean refused = head.contains("expect:");
                    socket.getInputStream().readNBytes(refused ? 0 : 2);
                    String answer = "HTTP/1.1 " + (refused ? 417 : 201) + " X\r\nContent-Length: 0\r\n\r\n";
                    socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                });
                RetryingClient client = client(HttpClient.newBuilder(), true)) {
            URI url = URI.create("http://127.0.0.1:" + old.port() + "/pay");
            CallResult result = client.send("order-1", CallRequest.post(url, "{}"));
            assertThat(result).isInstanceOf(Done.class);
            assertThat(result.attempts()).hasSize(1);
        }
        assertThat(heads).hasSize(2);
        assertThat(key(heads.get(1))).isEqualTo(key(heads.get(0)));
    }

    private static String key(String head) {
        return head.lines()
                .filter(line -> line.startsWith("idempotency-key:"))
                .findFirst()
                .orElseThrow();
    }
}
