package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Flow;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway with a certificate")
class TlsTest {
    @TempDir
    Path folder;

    private CountingUpstream upstream;
    private Running gateway;
    private SSLContext trusting;

    @BeforeEach
    void start() throws Exception {
        upstream = new CountingUpstream();
        trusting = SelfSigned.in(folder).trusting();
    }

    @AfterEach
    void stop() {
        upstream.close();
        if (gateway != null) {
            gateway.close();
        }
    }

    private void gateway(String more) {
        gateway = Running.start(
                folder,
                upstream.url(),
                "listen: {host: 127.0.0.1, port: 0, tls: {certificate: cert.pem, key: key.pem}" + more + "}");
    }

    private URI url(String path) {
        return URI.create(gateway.url(path).toString().replace("http:", "https:"));
    }

    private HttpResponse<String> send(HttpClient.Version version, HttpRequest.Builder request) throws Exception {
        HttpClient client =
                HttpClient.newBuilder().version(version).sslContext(trusting).build();
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(HttpClient.Version version, String body) throws Exception {
        HttpClient client =
                HttpClient.newBuilder().version(version).sslContext(trusting).build();
        return client.send(request("/payments", "k1", body), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    @DisplayName("speaks HTTP/2 and HTTP/1.1, and a key is the same key in both")
    void bothVersions() throws Exception {
        gateway("");
        HttpResponse<String> first = post(HttpClient.Version.HTTP_2, "{}");
        assertThat(first.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(upstream.header("X-Forwarded-Proto")).isEqualTo("https");
        HttpResponse<String> retry = post(HttpClient.Version.HTTP_1_1, "{}");
        assertThat(retry.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
        assertThat(post(HttpClient.Version.HTTP_2, "{\"x\":1}").statusCode()).isEqualTo(422);
        assertThat(upstream.effects("k1")).isEqualTo(1);
    }

    @Test
    @DisplayName("refuses one request of an HTTP/2 connection without harm to the others on it")
    void oneStream() throws Exception {
        gateway("");
        HttpClient client = HttpClient.newBuilder().sslContext(trusting).build();
        client.send(HttpRequest.newBuilder(url("/things")).build(), HttpResponse.BodyHandlers.ofString());
        var held = client.sendAsync(request("/held", "k1", "{}"), HttpResponse.BodyHandlers.ofString());
        upstream.awaitHeld();
        assertThat(client.send(
                                request("/payments", "k2", "x".repeat((1 << 20) + 1)),
                                HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(413);
        for (int i = 0; i < 3; i++) {
            assertThat(client.send(request("/payments", "k3", "{}"), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(201);
            // In all longer than a connection would linger.
            LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
        }
        upstream.release();
        assertThat(held.get().statusCode()).isEqualTo(201);
    }

    @Test
    @DisplayName(
            "cuts off one request of an HTTP/2 connection whose body does not come, without harm to the others on it")
    void oneLateBody() throws Exception {
        gateway(", body-timeout: 1s");
        HttpClient client = HttpClient.newBuilder().sslContext(trusting).build();
        client.send(HttpRequest.newBuilder(url("/things")).build(), HttpResponse.BodyHandlers.ofString());
        var held = client.sendAsync(request("/held", "k1", "{}"), HttpResponse.BodyHandlers.ofString());
        upstream.awaitHeld();
        HttpRequest late = HttpRequest.newBuilder(url("/payments"))
                .header("Idempotency-Key", "k2")
                .POST(HttpRequest.BodyPublishers.fromPublisher(
                        subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                            @Override
                            public void request(long n) {}

                            @Override
                            public void cancel() {}
                        }),
                        10))
                .build();
        assertThat(client.sendAsync(late, HttpResponse.BodyHandlers.ofString())).failsWithin(Duration.ofMinutes(1));
        assertThat(held).isNotDone();
        upstream.release();
        assertThat(held.get().statusCode()).isEqualTo(201);
    }

    private HttpRequest request(String path, String key, String body) {
        return HttpRequest.newBuilder(url(path))
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    @Test
    @DisplayName("drains at once when its HTTP/2 clients are idle, though they do not hang up by themselves")
    void drain() throws Exception {
        gateway("");
        HttpClient client = HttpClient.newBuilder().sslContext(trusting).build();
        client.send(HttpRequest.newBuilder(url("/things")).build(), HttpResponse.BodyHandlers.ofString());
        long begun = System.nanoTime();
        gateway.drain();
        assertThat(Duration.ofNanos(System.nanoTime() - begun))
                .as("less than the drain time-out of 30 s")
                .isLessThan(Duration.ofSeconds(25));
    }

    @Test
    @DisplayName("streams unprotected traffic over HTTP/2, both ways, and refuses bodies over the limit")
    void http2() throws Exception {
        gateway("");
        HttpResponse<String> down = send(HttpClient.Version.HTTP_2, HttpRequest.newBuilder(url("/bytes/3000000")));
        assertThat(down.body()).hasSize(3_000_000);
        assertThat(down.version()).isEqualTo(HttpClient.Version.HTTP_2);
        HttpResponse<String> up = send(
                HttpClient.Version.HTTP_2,
                HttpRequest.newBuilder(url("/up")).PUT(HttpRequest.BodyPublishers.ofByteArray(new byte[3_000_000])));
        assertThat(up.body()).contains("\"bytes\":3000000");
        assertThat(post(HttpClient.Version.HTTP_2, "x".repeat((1 << 20) + 1)).statusCode())
                .isEqualTo(413);
        assertThat(upstream.effects("k1")).isZero();
    }

    @Test
    @DisplayName("answers HEAD over HTTP/2 without a body, be it for what it publishes or a refusal")
    void head() throws Exception {
        gateway("");
        for (String path : new String[] {"/.well-known/idempotency", "/.well-known/idempotency/status"}) {
            HttpResponse<String> whole = send(HttpClient.Version.HTTP_2, HttpRequest.newBuilder(url(path)));
            HttpResponse<String> head = send(
                    HttpClient.Version.HTTP_2,
                    HttpRequest.newBuilder(url(path)).method("HEAD", HttpRequest.BodyPublishers.noBody()));
            assertThat(head.version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(head.headers().map()).isEqualTo(whole.headers().map());
            assertThat(whole.body()).isNotEmpty();
            assertThat(head.body()).isEmpty();
        }
    }

    @Test
    @DisplayName("speaks HTTP/1.1 only where so configured, and never plain text")
    void http1Only() throws Exception {
        gateway(", http2: false");
        assertThat(post(HttpClient.Version.HTTP_2, "{}").version()).isEqualTo(HttpClient.Version.HTTP_1_1);
        assertThatThrownBy(() -> gateway.post("/payments", "k2", "{}")).isInstanceOf(IOException.class);
        assertThat(upstream.effects("k2")).isZero();
    }

    @Test
    @DisplayName("is not trusted by clients that do not know the certificate")
    void stranger() {
        gateway("");
        HttpRequest request = HttpRequest.newBuilder(url("/payments")).build();
        assertThatThrownBy(() -> HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()))
                .isInstanceOf(SSLHandshakeException.class);
    }
}
