package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway that is told which authorities to trust for a service")
class UpstreamTrustTest {
    private static Path ours;
    private static Path strangers;
    private static Authority.Issued identity;
    private static Authority.Issued elsewhere;

    @TempDir
    Path folder;

    private final AtomicInteger requests = new AtomicInteger();
    private Vertx vertx;

    @BeforeAll
    static void certify(@TempDir Path keys) throws Exception {
        Authority authority = Authority.in(keys.resolve("ours"));
        ours = authority.certificate();
        identity = authority.issue("ip:127.0.0.1");
        elsewhere = authority.issue("dns:other.example,ip:127.0.0.2");
        strangers = Authority.in(keys.resolve("strangers")).certificate();
    }

    @BeforeEach
    void start() {
        vertx = Vertx.vertx();
    }

    @AfterEach
    void stop() throws Exception {
        vertx.close().await(60, TimeUnit.SECONDS);
    }

    /** Breaks off what is posted to {@code /lost}, and can be asked about it. */
    private int service(Authority.Issued shown) throws Exception {
        HttpServerOptions options = new HttpServerOptions()
                .setHost("127.0.0.1")
                .setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .addCertPath(shown.certificate().toString())
                        .addKeyPath(shown.key().toString()));
        return vertx.createHttpServer(options)
                .requestHandler(request -> request.body().onSuccess(body -> answer(request)))
                .listen(0)
                .await(60, TimeUnit.SECONDS)
                .actualPort();
    }

    private void answer(HttpServerRequest request) {
        int count = requests.incrementAndGet();
        switch (request.path()) {
            case "/lost" -> request.connection().close();
            case "/about/lost-1" -> request.response().end("{\"id\":7}");
            default -> request.response().end(request.version() + " " + count);
        }
    }

    /** A service, and whom to trust for it. */
    private record Way(int port, Path trusted) {}

    /** In front of one service, in HTTP/1.1 and in HTTP/2, and of one for look-ups. */
    private Running gateway(Way service, Way lookUps) {
        return Running.start(folder, URI.create("http://unused"), """
                upstreams:
                  - {name: one, url: 'https://127.0.0.1:%1$d', connect-timeout: 60s, tls: {ca: %2$s}}
                  - {name: two, url: 'https://127.0.0.1:%1$d', connect-timeout: 60s, tls: {ca: %2$s}, paths: [/two], http2: true}
                  - {name: about, url: 'https://127.0.0.1:%3$d', tls: {ca: %4$s}, paths: [/about]}
                operations:
                  - {method: POST, path: /one}
                  - {method: POST, path: /two}
                  - method: POST
                    path: /lost
                    look-up:
                      request: GET /about/{key}
                      found: {status: 200, pointer: /id}
                      absent: {status: 404}
                      answer: {status: 201}
                """.formatted(
                        service.port(), service.trusted(), lookUps.port(), lookUps.trusted()));
    }

    private void refused(Running gateway, String why) throws Exception {
        for (String path : new String[] {"/one", "/two"}) {
            assertThat(gateway.get(path).statusCode()).isEqualTo(502);
            for (int i = 0; i < 2; i++) {
                HttpResponse<String> answer = gateway.post(path, "k" + path, "{}");
                assertThat(answer.statusCode()).isEqualTo(502);
                assertThat(answer.body()).contains("\"upstream_unreachable\"");
            }
            assertThat(gateway.send(gateway.request("/.well-known/idempotency/status", "k" + path))
                            .body())
                    .contains("\"state\":\"retryable\"");
            assertThat(gateway.send(admin(gateway, "/v1/keys/history?tenant=default&key=k" + path))
                            .body())
                    .as("operators are told what is wrong")
                    .contains("not sent: ")
                    .contains(why);
        }
        assertThat(requests).as("nothing was sent").hasValue(0);
    }

    private static HttpRequest.Builder admin(Running gateway, String path) throws Exception {
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        return HttpRequest.newBuilder(gateway.admin(path)).header("Authorization", "Bearer " + token);
    }

    private void lookUpRefused(Running gateway) throws Exception {
        assertThat(gateway.post("/lost", "lost-1", "{}").statusCode()).isEqualTo(504);
        HttpRequest.Builder ask = admin(gateway, "/v1/reconcile/run").POST(HttpRequest.BodyPublishers.noBody());
        assertThat(gateway.send(ask).body())
                .isEqualTo("{\"asked\":1,\"found\":0,\"absent\":0,\"undecided\":1,\"withoutLookUp\":0}");
        assertThat(gateway.post("/lost", "lost-1", "{}").body()).contains("outcome_unknown");
        assertThat(requests).as("the look-up was not sent").hasValue(1);
    }

    @Test
    @DisplayName("reaches one whose certificate they signed, protected or not, and by look-ups")
    void trusted() throws Exception {
        int port = service(identity);
        Path both = Files.writeString(
                folder.resolve("both.pem"),
                "Two authorities:\n" + Files.readString(strangers) + Files.readString(ours));
        try (Running gateway = gateway(new Way(port, both), new Way(port, ours))) {
            assertThat(gateway.get("/one").body()).isEqualTo("HTTP_1_1 1");
            assertThat(gateway.get("/two").body()).isEqualTo("HTTP_2 2");
            assertThat(gateway.post("/one", "k1", "{}").body()).isEqualTo("HTTP_1_1 3");
            assertThat(gateway.post("/one", "k1", "{}").body()).isEqualTo("HTTP_1_1 3");
            assertThat(gateway.post("/two", "k2", "{}").body()).isEqualTo("HTTP_2 4");
            assertThat(gateway.post("/lost", "lost-1", "{}").statusCode()).isEqualTo(504);
            Eventually.eventually(() -> {
                HttpResponse<String> retry = gateway.post("/lost", "lost-1", "{}");
                assertThat(retry.statusCode()).isEqualTo(201);
                assertThat(retry.body()).isEqualTo("{\"id\":7}");
            });
        }
    }

    @Test
    @DisplayName("sends nothing to one whose certificate another signed: 502, and the key is free for another try")
    void stranger() throws Exception {
        int port = service(identity);
        Way way = new Way(port, strangers);
        try (Running gateway = gateway(way, way)) {
            refused(gateway, "PKIX path");
        }
    }

    @Test
    @DisplayName("D6 believes no look-up at one whose certificate another signed: the outcome stays unknown")
    void strangersLookUp() throws Exception {
        int port = service(identity);
        try (Running gateway = gateway(new Way(port, ours), new Way(port, strangers))) {
            lookUpRefused(gateway);
        }
    }

    @Test
    @DisplayName("sends nothing to one whose certificate is for another host")
    void otherHost() throws Exception {
        Way way = new Way(service(elsewhere), ours);
        try (Running gateway = gateway(way, way)) {
            refused(gateway, "No subject alternative names matching");
        }
    }

    @Test
    @DisplayName("D6 believes no look-up at one whose certificate is for another host: the outcome stays unknown")
    void otherHostsLookUp() throws Exception {
        Way right = new Way(service(identity), ours);
        Way wrong = new Way(service(elsewhere), ours);
        try (Running gateway = gateway(right, wrong)) {
            lookUpRefused(gateway);
        }
    }
}
