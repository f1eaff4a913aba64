package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A gateway with clients that misbehave")
class HostileClientTest {
    @TempDir
    Path folder;

    private RawUpstream upstream;
    private Running gateway;

    @BeforeEach
    void start() {
        upstream = new RawUpstream(
                (head, socket) -> RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        gateway = Running.start(
                folder, upstream.url(), "listen: {host: 127.0.0.1, port: 0, header-timeout: 1s, body-timeout: 1s}");
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
    }

    /** Everything that comes until the gateway closes; the empty string if it does so without an answer. */
    private String say(String text) throws IOException {
        try (Socket socket = gateway.connect()) {
            try {
                socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
                return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            } catch (SocketException reset) {
                return "";
            }
        }
    }

    private void goesOn() throws Exception {
        assertThat(gateway.get("/alive").body()).isEqualTo("ok");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 2\r\nContent-Length: 3\r\n",
                "Content-Length: 2\r\nContent-Length: 2\r\n",
                "Content-Length: 2, 2\r\n",
                "Content-Length: +2\r\n",
                "Content-Length: -2\r\n",
                "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
                "Transfer-Encoding: chunked, identity\r\n",
                "Transfer-Encoding: xchunked\r\n",
                "Transfer-Encoding : chunked\r\n",
                "X-Folded: a\r\n b\r\nContent-Length: 2\r\n",
                "X-Folded: a\r\n\tb\r\nContent-Length: 2\r\n",
                "Content-Length:\r\n 2\r\n",
                "Host: other\r\nContent-Length: 2\r\n",
                "X-Nul: secret\u0000\r\nContent-Length: 2\r\n",
                "X Space: a\r\nContent-Length: 2\r\n",
                ": nameless\r\nContent-Length: 2\r\n",
            })
    @DisplayName("refuses heads that two servers may read differently, and closes")
    void smuggling(String lines) throws Exception {
        String smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
        String answer = say("POST /x HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\n" + lines + "\r\n{}" + smuggled);
        assertThat(answer).matches("(?s)HTTP/1.[01] 400.*").contains("request_malformed");
        assertThat(answer).as("what was sent may be a key").doesNotContain("secret");
        Documented.problem(answer.substring(answer.indexOf('{')));
        assertThat(answer.split("HTTP/1.[01] [0-9]", -1)).as("one answer only").hasSize(2);
        assertThat(upstream.heads()).noneMatch(head -> head.contains("smuggled"));
        goesOn();
    }

    @Test
    @DisplayName("refuses a target that would not reach the service as it was sent")
    void notAscii() throws Exception {
        assertThat(say("GET /caf\u00c3\u00a9 HTTP/1.1\r\nHost: a\r\n\r\n")).startsWith("HTTP/1.1 400");
        assertThat(upstream.heads()).isEmpty();
        goesOn();
    }

    @Test
    @DisplayName("refuses a folded line that comes in pieces")
    void foldInPieces() throws Exception {
        try (Socket socket = gateway.connect()) {
            for (String piece : List.of("GET / HTTP/1.1\r\nHost: a\r\nX: a", "\r", "\n", " b\r\n", "\r\n")) {
                socket.getOutputStream().write(piece.getBytes(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().flush();
                Thread.onSpinWait();
            }
            assertThat(RawUpstream.head(socket.getInputStream())).matches("(?s)HTTP/1.[01] 400.*");
        }
        goesOn();
    }

    @Test
    @DisplayName("takes pipelined requests one after the other, with white space between lines where it belongs")
    void pipelined() throws Exception {
        String one = "GET /one HTTP/1.1\r\nHost: a\r\n\r\n";
        String two = "\r\nPOST /two HTTP/1.1\r\nHost: a\r\nIdempotency-Key: p\r\nContent-Length: 4\r\n\r\n\n x\n";
        String three = "GET /three HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        assertThat(say(one + two + three).split("HTTP/1.1 200", -1)).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"close", "keep-alive, Close", "keep-alive\r\nConnection: close", "TE\r\nConnection: x, close"})
    @DisplayName("does not run what is pipelined after the request that was to be the last")
    void pipelinedAfterLast(String connection) throws Exception {
        gateway.post("/last", "p", "{}");
        String close = "Connection: " + connection + "\r\n\r\n";
        for (String last : List.of(
                "DELETE /last HTTP/1.1\r\nHost: a\r\n" + close,
                // Answered at once, from memory.
                "POST /last HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nIdempotency-Key: p\r\nContent-Length: 2\r\n"
                        + close + "{}")) {
            String after = "DELETE /after HTTP/1.1\r\nHost: a\r\n\r\n";
            assertThat(say(last + after + after).split("HTTP/1.1 200", -1))
                    .as("one answer")
                    .hasSize(2);
        }
        assertThat(upstream.heads()).hasSize(2).allMatch(head -> head.contains(" /last "));
        goesOn();
    }

    @Test
    @DisplayName("answers 417 to expectations that it does not know, and runs nothing")
    void expectations() throws Exception {
        for (String expected : List.of("foo", "100-continue, foo", "100-continue\r\nExpect: foo", "")) {
            for (String key : List.of("", "Idempotency-Key: e\r\n")) {
                String answer = say("POST / HTTP/1.1\r\nHost: a\r\n" + key + "Content-Length: 2\r\nExpect: " + expected
                        + "\r\n\r\n{}");
                assertThat(answer).startsWith("HTTP/1.1 417");
                Documented.problem(answer.substring(answer.indexOf('{')));
            }
        }
        assertThat(upstream.heads()).isEmpty();
        goesOn();
    }

    @Test
    @DisplayName("takes the host from an absolute target, whatever Host says, and refuses one that is no host")
    void absoluteTarget() throws Exception {
        for (String target : List.of("http://shop.example/a?b=/c", "HTTP://shop.example?b=/c", "http://shop.example")) {
            say("GET " + target + " HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n");
        }
        assertThat(upstream.heads())
                .hasSize(3)
                .allSatisfy(head -> assertThat(head.toLowerCase(Locale.ROOT))
                        .contains("\r\nhost: shop.example\r\n")
                        .contains("\r\nx-forwarded-host: shop.example\r\n")
                        .doesNotContain("other.example"));
        assertThat(upstream.heads().get(1)).startsWith("GET /?b=/c ");
        for (String target : List.of("http:///a", "http://a@b/c", "http://a b/c", "http://a:b/c", "ftp://a/b")) {
            assertThat(say("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n")).matches("(?s)HTTP/1.[01] 400.*");
        }
        assertThat(upstream.heads()).hasSize(3);
    }

    @Test
    @DisplayName("answers 431 to headers and 414 to request lines that are too long")
    void tooLong() throws Exception {
        String headers = say("GET / HTTP/1.1\r\nHost: a\r\nX: " + "y".repeat(40_000) + "\r\n\r\n");
        assertThat(headers).startsWith("HTTP/1.1 431");
        Documented.problem(headers.substring(headers.indexOf('{')));
        String line = say("GET /" + "y".repeat(10_000) + " HTTP/1.1\r\nHost: a\r\n\r\n");
        assertThat(line).matches("(?s)HTTP/1.[01] 414.*");
        Documented.problem(line.substring(line.indexOf('{')));
        goesOn();
    }

    @Test
    @DisplayName("closes connections that send their head or their body a byte at a time")
    void slowLoris() throws Exception {
        for (String start : List.of(
                "GET / HTTP/1.1\r\nHost: a\r\nX: ",
                "POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 100000\r\n\r\n")) {
            try (Socket socket = gateway.connect()) {
                socket.getOutputStream().write(start.getBytes(StandardCharsets.ISO_8859_1));
                long begun = System.nanoTime();
                Eventually.eventually(() -> {
                    socket.getOutputStream().write('x');
                    socket.getOutputStream().flush();
                    assertThat(socket.getInputStream().available() > 0 || isClosed(socket))
                            .isTrue();
                });
                assertThat(System.nanoTime() - begun).isLessThan(50_000_000_000L);
            }
        }
        goesOn();
    }

    private static boolean isClosed(Socket socket) throws IOException {
        socket.setSoTimeout(1);
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    @Test
    @DisplayName("closes connections over the limit, and serves again when there is room")
    void tooMany() throws Exception {
        gateway.close();
        // None is closed for being idle.
        gateway = Running.start(folder, upstream.url(), "listen: {host: 127.0.0.1, port: 0, connections-max: 300}");
        List<Socket> idle = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            idle.add(gateway.connect());
        }
        Set<Socket> closed = new HashSet<>();
        Eventually.eventually(() -> {
            for (Socket socket : idle) {
                if (isClosed(socket)) {
                    closed.add(socket);
                }
            }
            assertThat(closed).hasSize(100);
        });
        for (Socket socket : idle) {
            socket.close();
        }
        Eventually.eventually(this::goesOn);
    }

    @Test
    @DisplayName("does not take CONNECT, and does not pass on an upgrade to HTTP/2")
    void connect() throws Exception {
        assertThat(say("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n")).startsWith("HTTP/1.1 405");
        say(RawUpstream.lines(
                "GET /up HTTP/1.1",
                "Host: a",
                "Connection: close, Upgrade, HTTP2-Settings",
                "Upgrade: h2c",
                "HTTP2-Settings: AAMAAABkAAQAAP__"));
        assertThat(upstream.heads())
                .noneMatch(head -> head.toLowerCase(Locale.ROOT).contains("upgrade"));
    }
}
