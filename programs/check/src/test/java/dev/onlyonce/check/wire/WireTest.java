package dev.onlyonce.check.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A raw exchange")
class WireTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** What was sent to a server that answers with these bytes and closes. */
    private record Seen(RawAnswer answer, String request) {}

    private static Seen exchange(String answer, Duration patience, RawRequest request) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<String> seen = CompletableFuture.supplyAsync(() -> serve(server, answer));
            URI url = URI.create("http://127.0.0.1:" + server.getLocalPort() + "/a?b=1");
            return new Seen(Wire.exchange(request.url(url), patience), seen.join());
        }
    }

    private static String serve(ServerSocket server, String answer) {
        try (Socket socket = server.accept()) {
            InputStream in = socket.getInputStream();
            StringBuilder request = new StringBuilder();
            while (!request.toString().endsWith("end")) {
                request.append((char) in.read());
            }
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
            if (answer.isEmpty()) {
                // Silent until the client gives up.
                request.append(in.read());
            }
            return request.toString();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static RawRequest post() {
        return RawRequest.get(URI.create("http://localhost/"), List.of())
                .method("POST")
                .body("the end");
    }

    @Test
    @DisplayName("sends the bytes that it was given, control characters and repeated lines too")
    void bytes() throws IOException {
        RawRequest request = post().plus("Idempotency-Key", "a\u0001b").plus("Idempotency-Key", "");
        String sent = exchange("HTTP/1.1 204 \r\n\r\n", PATIENCE, request).request();
        assertThat(sent)
                .startsWith("POST /a?b=1 HTTP/1.1\r\nHost: 127.0.0.1:")
                .contains(
                        "\r\nIdempotency-Key: a\u0001b\r\nIdempotency-Key: \r\n",
                        "\r\nContent-Length: 7\r\n\r\nthe end");
        assertThat(request.shown()).contains("Idempotency-Key: a\\u0001b");
    }

    @Test
    @DisplayName("reads bodies by length, in chunks and to the end, after interim answers")
    void bodies() throws IOException {
        assertThat(body("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabcd"))
                .isEqualTo("ab");
        assertThat(
                        body(
                                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n"))
                .isEqualTo("abc");
        assertThat(body("HTTP/1.0 200 OK\r\n\r\nabcd")).isEqualTo("abcd");
    }

    private static String body(String answer) throws IOException {
        return exchange(answer, PATIENCE, post()).answer().text();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage\r\n\r\n",
                "HTTP/1.1 20x OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "HTTP/1.1 200 OK"
            })
    @DisplayName("with garbage ends with an error, not with a wrong answer")
    void garbage(String answer) {
        assertThatThrownBy(() -> body(answer)).isInstanceOf(IOException.class);
    }

    @Test
    @DisplayName("with a silent server ends when patience is over")
    void silent() {
        assertThatThrownBy(() -> exchange("", Duration.ofMillis(200), post())).isInstanceOf(IOException.class);
    }

    @Test
    @DisplayName("with a server that drips bytes ends when patience is over")
    void dripping() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> dripping = CompletableFuture.runAsync(() -> drip(server));
            URI url = URI.create("http://127.0.0.1:" + server.getLocalPort() + "/");
            assertThatThrownBy(() -> Wire.exchange(post().url(url), Duration.ofMillis(300)))
                    .isInstanceOf(IOException.class);
            dripping.join();
        }
    }

    /** One byte after the other, until nobody is there. */
    private static void drip(ServerSocket server) {
        try (Socket socket = server.accept()) {
            while (true) {
                socket.getOutputStream().write('H');
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        } catch (IOException e) {
            // The client has given up.
            return;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token", "client-secret"})
    @DisplayName("is shown without credentials")
    void credentials(String name) {
        assertThat(new HeaderLine(name, "hush").shown()).isEqualTo(name + ": (hidden)");
        assertThat(new HeaderLine("Idempotency-Key", "k").shown()).isEqualTo("Idempotency-Key: k");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no colon", ": x", "a b: c", "a: b\nc: d", "a: b\rc"})
    @DisplayName("has no header that would break its head")
    void headers(String line) {
        assertThatThrownBy(() -> HeaderLine.parse(line)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("ends if the server reads nothing")
    void unread() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            RawRequest request = post().body("x".repeat(16 << 20))
                    .url(URI.create("http://127.0.0.1:" + server.getLocalPort() + "/"));
            assertThatThrownBy(() -> Wire.exchange(request, Duration.ofMillis(200)))
                    .hasMessage("the server does not read the request");
            try (Wire wire = Wire.open(request.url(), Duration.ofMillis(200))) {
                assertThatThrownBy(() -> wire.writeAllButLast(request))
                        .hasMessage("the server does not read the request");
            }
        }
    }
}
