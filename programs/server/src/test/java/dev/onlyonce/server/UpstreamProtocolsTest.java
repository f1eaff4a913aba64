package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway in front of a service that speaks")
class UpstreamProtocolsTest {
    @TempDir
    Path folder;

    private final AtomicInteger effects = new AtomicInteger();
    private Vertx vertx;

    @BeforeEach
    void start() {
        vertx = Vertx.vertx();
    }

    @AfterEach
    void stop() throws Exception {
        vertx.close().await(60, TimeUnit.SECONDS);
    }

    /** Says what it was asked in. */
    private int service(HttpServerOptions options) throws Exception {
        HttpServer server = vertx.createHttpServer(options.setHost("127.0.0.1"))
                .requestHandler(request -> request.body()
                        .onSuccess(body -> request.response()
                                .end("%s %s %d bytes, effect %d"
                                        .formatted(
                                                request.scheme(),
                                                request.version(),
                                                body.length(),
                                                effects.incrementAndGet()))));
        return server.listen(0).await(60, TimeUnit.SECONDS).actualPort();
    }

    private static HttpServerOptions tls(SelfSigned certificate) {
        return new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .addCertPath(certificate.certificate().toString())
                        .addKeyPath(certificate.key().toString()));
    }

    private static HttpResponse<String> send(URI uri, String key) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        if (key != null) {
            request.header("Idempotency-Key", key).POST(HttpRequest.BodyPublishers.ofString("{}"));
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    @DisplayName("HTTP/2 in clear text passes requests on in it, protected or not")
    void clearText() throws Exception {
        int port = service(new HttpServerOptions());
        try (Running gateway = Running.start(
                folder,
                URI.create("http://unused"),
                "upstreams: [{url: 'http://127.0.0.1:%d', http2: true}]".formatted(port))) {
            assertThat(send(gateway.url("/things"), null).body()).isEqualTo("http HTTP_2 0 bytes, effect 1");
            assertThat(send(gateway.url("/things"), "k1").body()).isEqualTo("http HTTP_2 2 bytes, effect 2");
            assertThat(send(gateway.url("/things"), "k1").body()).isEqualTo("http HTTP_2 2 bytes, effect 2");
        }
    }

    @Test
    @DisplayName(
            "TLS passes requests on in HTTP/1.1 or, if so configured, in HTTP/2, when the JVM trusts its certificate")
    void trusted() throws Exception {
        SelfSigned certificate = SelfSigned.in(folder);
        Path other =
                SelfSigned.in(Files.createDirectory(folder.resolve("other"))).certificate();
        int port = service(tls(certificate));
        Path config = Files.writeString(folder.resolve("gateway.yaml"), """
                listen: {host: 127.0.0.1, port: 0}
                admin: {port: 0}
                upstreams:
                  - {name: one, url: 'https://127.0.0.1:%1$d', paths: [/one], connect-timeout: 60s}
                  - {name: two, url: 'https://127.0.0.1:%1$d', paths: [/two], connect-timeout: 60s, http2: true}
                  - {name: three, url: 'https://127.0.0.1:%1$d', paths: [/three], connect-timeout: 60s, tls: {ca: %2$s}}
                """.formatted(port, other));
        try (GatewayProcess gateway =
                GatewayProcess.trusting(certificate, folder.resolve("gateway.log"), "--config", config.toString())) {
            assertThat(send(gateway.url("/one"), null).body()).isEqualTo("https HTTP_1_1 0 bytes, effect 1");
            assertThat(send(gateway.url("/one"), "k1").body()).isEqualTo("https HTTP_1_1 2 bytes, effect 2");
            assertThat(send(gateway.url("/one"), "k1").body()).isEqualTo("https HTTP_1_1 2 bytes, effect 2");
            assertThat(send(gateway.url("/two"), null).body()).isEqualTo("https HTTP_2 0 bytes, effect 3");
            assertThat(send(gateway.url("/two"), "k2").body()).isEqualTo("https HTTP_2 2 bytes, effect 4");
            assertThat(send(gateway.url("/three"), "k3").statusCode())
                    .as("here another is trusted, and not the JVM's")
                    .isEqualTo(502);
        }
    }

    @Test
    @DisplayName("TLS with a certificate that nobody vouches for sends it nothing, and the key is free for another try")
    void stranger() throws Exception {
        int port = service(tls(SelfSigned.in(folder)));
        try (Running gateway = Running.start(folder, URI.create("https://127.0.0.1:" + port), "")) {
            assertThat(send(gateway.url("/things"), null).statusCode()).isEqualTo(502);
            for (int i = 0; i < 2; i++) {
                assertThat(send(gateway.url("/things"), "k1").statusCode()).isEqualTo(502);
            }
            assertThat(effects).hasValue(0);
        }
    }
}
