package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.streams.WriteStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Bodies arrive whole")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
class BodiesTest {
    private static final int[] SIZES = {0, 1, 16 << 10, 150_000};
    private static final int PIECES = 10;

    private final Random random = new Random(11);
    private Vertx vertx;
    private Running plain;
    private Running secure;
    private int keys;

    /** How a body travels, both ways. */
    private record Shape(boolean length, boolean expect, int size, boolean dribbled) {
        static List<Shape> all() {
            List<Shape> shapes = new ArrayList<>();
            for (int size : SIZES) {
                for (int bits = 0; bits < 8; bits++) {
                    Shape shape = new Shape((bits & 1) != 0, (bits & 2) != 0, size, (bits & 4) != 0);
                    // Nobody waits for 100 Continue with nothing to send.
                    if (size > 0 || !shape.expect) {
                        shapes.add(shape);
                    }
                }
            }
            // Once as large as what was seen cut.
            shapes.add(new Shape(false, false, 3_000_000, false));
            return shapes;
        }
    }

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        vertx = Vertx.vertx();
        int port = vertx.createHttpServer(
                        new HttpServerOptions().setHost("127.0.0.1").setHandle100ContinueAutomatically(true))
                .requestHandler(BodiesTest::echo)
                .listen(0)
                .await(60, TimeUnit.SECONDS)
                .actualPort();
        String settings = """
                upstreams:
                  - {name: one, url: 'http://127.0.0.1:%1$d', paths: [/one]}
                  - {name: two, url: 'http://127.0.0.1:%1$d', paths: [/two], http2: true}
                defaults: {body-bytes-max: 4MiB}
                """.formatted(port);
        URI unused = URI.create("http://unused");
        Path other = Files.createDirectory(folder.resolve("secure"));
        SelfSigned.in(other);
        plain = Running.start(Files.createDirectory(folder.resolve("plain")), unused, settings);
        secure = Running.start(
                other,
                unused,
                settings + "listen: {host: 127.0.0.1, port: 0, tls: {certificate: cert.pem, key: key.pem}}");
    }

    @AfterAll
    void stop() throws Exception {
        plain.close();
        secure.close();
        vertx.close().await(60, TimeUnit.SECONDS);
    }

    /** Answers with the body that came, and says what it was. */
    private static void echo(HttpServerRequest request) {
        Buffer body = Buffer.buffer();
        request.handler(body::appendBuffer);
        request.endHandler(ended -> {
            var response = request.response().putHeader("X-Digest", digest(body));
            if (request.getHeader("X-Length") != null) {
                response.putHeader("Content-Length", Integer.toString(body.length()));
            } else {
                response.setChunked(true);
            }
            write(response, body, request.getHeader("X-Dribbled") != null).onSuccess(written -> response.end());
        });
    }

    /** In one piece, or in many of which each waits until the one before has left. */
    private static Future<Void> write(WriteStream<Buffer> to, Buffer body, boolean dribbled) {
        if (body.length() == 0) {
            return Future.succeededFuture();
        }
        int piece = dribbled ? Math.max(1, body.length() / PIECES) : body.length();
        Future<Void> written = Future.succeededFuture();
        for (int at = 0; at < body.length(); at += piece) {
            Buffer next = body.getBuffer(at, Math.min(body.length(), at + piece));
            written = written.compose(before -> to.write(next));
        }
        return written;
    }

    private static String digest(Buffer body) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(body.getBytes());
            return body.length() + ":" + HexFormat.of().formatHex(digest);
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private HttpClientAgent client(HttpVersion version, boolean tls) {
        return vertx.createHttpClient(new HttpClientOptions()
                .setProtocolVersion(version)
                .setSsl(tls)
                .setUseAlpn(tls)
                .setTrustAll(true)
                .setVerifyHost(false));
    }

    @ParameterizedTest(name = "{0}, TLS {1}, to a service of {2}, protected {3}")
    @CsvSource({
        "HTTP_1_1, false, one, false",
        "HTTP_1_1, false, one, true",
        "HTTP_1_1, false, two, false",
        "HTTP_1_1, false, two, true",
        "HTTP_1_1, true, one, false",
        "HTTP_1_1, true, two, true",
        "HTTP_2, true, one, false",
        "HTTP_2, true, one, true",
        "HTTP_2, true, two, false",
        "HTTP_2, true, two, true",
    })
    @DisplayName("R1 both ways, with or without a length, expected or not, of any size, at once or dribbled")
    void whole(HttpVersion version, boolean tls, String service, boolean isProtected) throws Exception {
        HttpClientAgent client = client(version, tls);
        for (Shape shape : Shape.all()) {
            byte[] bytes = new byte[shape.size];
            random.nextBytes(bytes);
            Buffer body = Buffer.buffer(bytes);
            RequestOptions options = new RequestOptions()
                    .setMethod(isProtected ? HttpMethod.POST : HttpMethod.PUT)
                    .setHost("127.0.0.1")
                    .setPort((tls ? secure : plain).url("/").getPort())
                    .setURI("/" + service)
                    .putHeader("Content-Type", "application/octet-stream");
            if (isProtected) {
                options.putHeader("Idempotency-Key", "k" + ++keys);
            }
            String what = shape + " of seed 11";
            assertThat(exchange(client, options, shape, body)).as(what).isEqualTo(digest(body));
        }
        client.close().await(60, TimeUnit.SECONDS);
    }

    /** The digest of what came back, if that is what the service sent. */
    private static String exchange(HttpClientAgent client, RequestOptions options, Shape shape, Buffer body)
            throws Exception {
        HttpClientRequest request = client.request(options).await(60, TimeUnit.SECONDS);
        if (shape.length) {
            request.putHeader("Content-Length", Integer.toString(shape.size)).putHeader("X-Length", "yes");
        } else {
            request.setChunked(true);
        }
        if (shape.dribbled) {
            request.putHeader("X-Dribbled", "yes");
        }
        Future<HttpClientResponse> answered = request.response();
        Future<Buffer> back = answered.compose(HttpClientResponse::body);
        if (shape.expect) {
            request.putHeader("Expect", "100-continue");
            request.continueHandler(go -> write(request, body, shape.dribbled).onSuccess(written -> request.end()));
            var unused = request.writeHead();
        } else {
            write(request, body, shape.dribbled).onSuccess(written -> request.end());
        }
        String digest = digest(back.await(60, TimeUnit.SECONDS));
        assertThat(answered.result().statusCode()).as(shape.toString()).isEqualTo(200);
        assertThat(answered.result().getHeader("X-Digest"))
                .as("what the service got of " + shape)
                .isEqualTo(digest(body));
        return digest;
    }
}
