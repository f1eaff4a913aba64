package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.RetryPolicy;
import dev.onlyonce.client.RetryingClient;
import dev.onlyonce.client.journal.SqliteJournal;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.PemKeyCertOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A client over HTTP/2")
class ClientHttp2Test {
    @TempDir
    Path folder;

    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final List<HttpVersion> versions = new CopyOnWriteArrayList<>();
    private final List<Integer> connections = new CopyOnWriteArrayList<>();
    private volatile Consumer<HttpServerRequest> service =
            request -> request.response().end();
    private SelfSigned certificate;
    private Vertx vertx;
    private RetryingClient client;
    private CallRequest request;

    @BeforeEach
    void start() throws Exception {
        certificate = SelfSigned.in(folder);
        vertx = Vertx.vertx();
        int port = vertx.createHttpServer(new HttpServerOptions()
                        .setHost("127.0.0.1")
                        .setSsl(true)
                        .setUseAlpn(true)
                        .setKeyCertOptions(new PemKeyCertOptions()
                                .addCertPath(certificate.certificate().toString())
                                .addKeyPath(certificate.key().toString())))
                .requestHandler(received -> {
                    keys.add(received.getHeader("Idempotency-Key"));
                    versions.add(received.version());
                    connections.add(received.remoteAddress().port());
                    service.accept(received);
                })
                .listen(0)
                .await(60, TimeUnit.SECONDS)
                .actualPort();
        request = CallRequest.post(URI.create("https://127.0.0.1:" + port + "/pay"), "{}");
        client = client(false);
    }

    private RetryingClient client(boolean expectContinue) throws Exception {
        return RetryingClient.builder(SqliteJournal.open(folder.resolve("journal")))
                .policy(RetryPolicy.builder()
                        .firstPause(Duration.ofMillis(1))
                        // A time-out would reset the stream too.
                        .attemptTimeout(Duration.ofMinutes(5))
                        .deadline(Duration.ofMinutes(5))
                        .build())
                .http(HttpClient.newBuilder().sslContext(certificate.trusting()).build())
                .expectContinue(expectContinue)
                .build();
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        vertx.close().await(60, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("X4 sends the same key again after a stream that was reset and an error")
    void retries() throws Exception {
        service = received -> {
            switch (keys.size()) {
                case 1 -> received.response().reset(2);
                case 2 -> received.response().setStatusCode(503).end();
                default -> received.response().setStatusCode(201).end();
            }
        };
        CallResult result = client.send("order-1", request);
        assertThat(result).isInstanceOf(CallResult.Done.class);
        assertThat(result.attempts()).hasSize(3);
        assertThat(versions).hasSize(3).containsOnly(HttpVersion.HTTP_2);
        assertThat(keys).containsOnly(keys.get(0));
    }

    @Test
    @DisplayName("X1 a cancelled call resets its stream alone, stays open and is resumed with its key")
    void cancelled() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CompletableFuture<String> reset = new CompletableFuture<>();
        service = received -> {
            received.response().exceptionHandler(failure -> reset.complete("reset"));
            received.response().closeHandler(closed -> reset.complete("closed"));
            arrived.countDown();
        };
        CompletableFuture<CallResult> call = client.sendAsync("order-1", request);
        assertThat(arrived.await(60, TimeUnit.SECONDS)).isTrue();
        call.cancel(true);
        assertThat(reset.get(60, TimeUnit.SECONDS)).isEqualTo("reset");
        assertThat(client.pending()).hasSize(1);
        service = received -> received.response().setStatusCode(201).end();
        assertThat(client.resume("order-1")).isInstanceOf(CallResult.Done.class);
        assertThat(keys).hasSize(2).containsOnly(keys.get(0));
        assertThat(versions).containsOnly(HttpVersion.HTTP_2);
        assertThat(connections).containsOnly(connections.get(0));
    }

    @Test
    @DisplayName("X6 takes an answer that was cut short for no answer, and sends the same key again")
    void cutShort() throws Exception {
        service = received -> {
            if (keys.size() == 1) {
                received.response()
                        .setStatusCode(201)
                        .putHeader("Content-Length", "100")
                        .end("short");
            } else {
                received.response().setStatusCode(201).end("whole");
            }
        };
        CallResult result = client.send("order-1", request);
        assertThat(result.orElseThrow().text()).isEqualTo("whole");
        assertThat(keys).hasSize(2).containsOnly(keys.get(0));
    }

    @Test
    @DisplayName("holds a body back until the server says 100 (Continue)")
    void expectContinue() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        service = received -> {
            events.add(String.valueOf(received.getHeader("Expect")).toLowerCase(Locale.ROOT));
            received.bodyHandler(body -> {
                events.add("body " + body);
                received.response().setStatusCode(201).end();
            });
            // Nothing tells that a body does not come; a client that did not wait would have sent it by then.
            vertx.setTimer(200, late -> {
                events.add("continue");
                received.response().writeContinue();
            });
        };
        try (RetryingClient careful = client(true)) {
            assertThat(careful.send("order-1", request)).isInstanceOf(CallResult.Done.class);
        }
        assertThat(events).containsExactly("100-continue", "continue", "body {}");
        assertThat(versions).containsOnly(HttpVersion.HTTP_2);
    }
}
