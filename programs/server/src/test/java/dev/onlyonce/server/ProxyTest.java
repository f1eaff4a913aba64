package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Unprotected traffic")
class ProxyTest {
    @TempDir
    Path folder;

    private RawUpstream upstream;
    private Running gateway;

    private void start(RawUpstream.Behaviour behaviour) {
        upstream = new RawUpstream(behaviour);
        gateway = Running.start(folder, upstream.url(), "");
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
    }

    private Socket ask(String text) throws Exception {
        Socket socket = gateway.connect();
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return socket;
    }

    private static String rest(Socket socket) throws Exception {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Test
    @DisplayName("streams: the first part of an answer arrives while the service still makes the second")
    void streams() throws Exception {
        var second = new CountDownLatch(1);
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
            second.await();
            RawUpstream.write(socket, "6\r\nsecond\r\n0\r\nX-Check: sum\r\n\r\n");
        });
        try (Socket socket = ask("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close\r\n\r\n")) {
            InputStream in = socket.getInputStream();
            assertThat(RawUpstream.head(in)).containsIgnoringCase("transfer-encoding: chunked");
            assertThat(new String(in.readNBytes(8), StandardCharsets.ISO_8859_1))
                    .isEqualTo("5\r\nfirst");
            second.countDown();
            assertThat(rest(socket)).contains("second").containsIgnoringCase("x-check: sum");
        }
    }

    @Test
    @DisplayName("passes a request body on as it comes, and 100 Continue in between")
    void continues() throws Exception {
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 100 Continue\r\n\r\n");
            String body = new String(socket.getInputStream().readNBytes(5), StandardCharsets.ISO_8859_1);
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + body);
        });
        try (Socket socket = ask(RawUpstream.lines(
                "PUT / HTTP/1.1", "Host: a", "Content-Length: 5", "Expect: 100-continue", "Connection: close"))) {
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 100");
            RawUpstream.write(socket, "hello");
            assertThat(rest(socket)).startsWith("HTTP/1.1 200").endsWith("hello");
        }
    }

    @Test
    @DisplayName("passes 103 Early Hints on")
    void earlyHints() throws Exception {
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n");
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        });
        try (Socket socket = ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")) {
            assertThat(RawUpstream.head(socket.getInputStream()))
                    .startsWith("HTTP/1.1 103")
                    .containsIgnoringCase("rel=preload");
            assertThat(rest(socket)).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    @DisplayName("leaves out interim answers that nobody waits for, and passes the final one on")
    void interim() throws Exception {
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 102 Processing\r\n\r\n");
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
        for (int i = 0; i < 2; i++) {
            assertThat(gateway.get("/long").body()).isEqualTo("ok");
        }
    }

    @Test
    @DisplayName("of HTTP/1.0 gets no interim answer, and the end of the connection after the answer")
    void http10() throws Exception {
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
        });
        try (Socket socket = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")) {
            socket.setSoTimeout(20_000);
            assertThat(rest(socket)).startsWith("HTTP/1.0 200").endsWith("\r\n\r\nok");
        }
    }

    @Test
    @DisplayName("D4 of HTTP/1.0 does not take a part of an answer for the whole: the connection is reset")
    void http10Cut() throws Exception {
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n");
            socket.close();
        });
        try (Socket socket = ask("GET / HTTP/1.0\r\n\r\n")) {
            socket.setSoTimeout(20_000);
            assertThatThrownBy(() -> rest(socket)).isInstanceOf(SocketException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Connection: close\r\nContent-Length: 2000000", "X-Length: none"})
    @DisplayName("R1 of HTTP/2 gets all of an answer after which the service closes, however slowly it reads")
    void closedAfterAnswer(String framing) throws Exception {
        SSLContext trusting = SelfSigned.in(folder).trusting();
        upstream = new RawUpstream((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\n");
            socket.getOutputStream().write(new byte[2_000_000]);
            socket.close();
        });
        gateway = Running.start(
                folder,
                upstream.url(),
                "listen: {host: 127.0.0.1, port: 0, tls: {certificate: cert.pem, key: key.pem}}\n");
        try (RawHttp2Client client =
                new RawHttp2Client(trusting, gateway.gateway().port(), 65_535)) {
            int stream = client.request("GET", "/download", "k");
            int received = 0;
            RawHttp2Client.Frame frame;
            do {
                frame = client.read();
                if (frame.type() == RawHttp2Client.DATA && frame.payload().length > 0) {
                    received += frame.payload().length;
                    client.grant(0, frame.payload().length);
                    client.grant(stream, frame.payload().length);
                }
            } while (frame.stream() != stream
                    || (frame.type() != RawHttp2Client.RST_STREAM && (frame.flags() & 1) == 0));
            assertThat(frame.type()).isEqualTo(RawHttp2Client.DATA);
            assertThat(received).isEqualTo(2_000_000);
        }
    }

    @Test
    @DisplayName("pins no memory with early hints that a client does not read, and passes 100 Continue on once")
    void interimFlood() throws Exception {
        String hint = "HTTP/1.1 103 Early Hints\r\nLink: </" + "a".repeat(20_000) + ">\r\n\r\n";
        var all = new CountDownLatch(1);
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(3));
            for (int i = 0; i < 2_000; i++) {
                RawUpstream.write(socket, hint);
            }
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            all.countDown();
        });
        try (Socket socket = ask(RawUpstream.lines(
                "PUT / HTTP/1.1", "Host: a", "Connection: close", "Expect: 100-continue", "Content-Length: 2"))) {
            assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
            RawUpstream.write(socket, "ok");
            String answer = rest(socket);
            assertThat(answer).endsWith("\r\n\r\nok").hasSizeLessThan(30_000_000);
            assertThat(answer.split("HTTP/1.1 100 Continue", -1)).hasSize(2);
        }
    }

    @Test
    @DisplayName("leaves compressed bodies, HEAD and its Content-Length, 204 and 304 alone")
    void untouched() throws Exception {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write("hello".getBytes(StandardCharsets.UTF_8));
        }
        start((head, socket) -> {
            if (head.startsWith("HEAD")) {
                RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n");
            } else if (head.contains("/204")) {
                RawUpstream.write(socket, "HTTP/1.1 204 No Content\r\n\r\n");
            } else if (head.contains("/304")) {
                RawUpstream.write(socket, "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n");
            } else {
                RawUpstream.write(
                        socket,
                        "HTTP/1.1 200 Fine\r\nContent-Encoding: gzip\r\nContent-Length: " + compressed.size()
                                + "\r\nX-Two: 1\r\nX-Two: 2\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n\r\n");
                socket.getOutputStream().write(compressed.toByteArray());
            }
        });
        HttpResponse<byte[]> got = gateway.client()
                .send(
                        HttpRequest.newBuilder(gateway.url("/gzip"))
                                .header("Accept-Encoding", "gzip")
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
        assertThat(got.body()).isEqualTo(compressed.toByteArray());
        assertThat(got.headers().allValues("X-Two")).containsExactly("1", "2");
        assertThat(got.headers().firstValue("X-Hop")).isEmpty();
        HttpResponse<String> head = gateway.send(
                HttpRequest.newBuilder(gateway.url("/head")).method("HEAD", HttpRequest.BodyPublishers.noBody()));
        assertThat(head.headers().firstValue("Content-Length")).hasValue("12345");
        assertThat(gateway.get("/204").statusCode()).isEqualTo(204);
        assertThat(gateway.get("/304").headers().firstValue("ETag")).hasValue("\"a\"");
    }

    @Test
    @DisplayName("passes large bodies both ways within little memory")
    void large() throws Exception {
        long bytes = 64L << 20;
        start((head, socket) -> {
            if (head.startsWith("PUT")) {
                long left = bytes;
                byte[] buffer = new byte[1 << 16];
                while (left > 0) {
                    left -= socket.getInputStream().read(buffer);
                }
                RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nall");
            } else {
                RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: " + bytes + "\r\n\r\n");
                new Zeros(bytes).transferTo(socket.getOutputStream());
            }
        });
        HttpRequest.Builder upload = HttpRequest.newBuilder(gateway.url("/up"))
                .PUT(HttpRequest.BodyPublishers.fromPublisher(
                        HttpRequest.BodyPublishers.ofInputStream(() -> new Zeros(bytes)), bytes));
        assertThat(gateway.send(upload).body()).isEqualTo("all");
        HttpResponse<InputStream> download = gateway.client()
                .send(HttpRequest.newBuilder(gateway.url("/down")).build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(download.body().transferTo(OutputStream.nullOutputStream())).isEqualTo(bytes);
    }

    private static final class Zeros extends InputStream {
        private long left;

        Zeros(long bytes) {
            left = bytes;
        }

        @Override
        public int read() {
            return left-- > 0 ? 0 : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            if (left <= 0) {
                return -1;
            }
            int count = (int) Math.min(left, length);
            left -= count;
            return count;
        }
    }

    @Test
    @DisplayName("tunnels an upgrade, bytes both ways")
    void upgrade() throws Exception {
        start((head, socket) -> {
            assertThat(head.toLowerCase(Locale.ROOT)).contains("upgrade: websocket");
            RawUpstream.write(
                    socket, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
            while (true) {
                RawUpstream.write(socket, "<" + (char) socket.getInputStream().read() + ">");
            }
        });
        try (Socket socket = ask(RawUpstream.lines(
                "GET /ws HTTP/1.1",
                "Host: a",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version: 13"))) {
            assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 101");
            for (String letter : new String[] {"a", "b", "c"}) {
                RawUpstream.write(socket, letter);
                assertThat(new String(socket.getInputStream().readNBytes(3), StandardCharsets.ISO_8859_1))
                        .isEqualTo("<" + letter + ">");
            }
        }
    }

    @Test
    @DisplayName("streams the answer of a service that does not want to upgrade, and keeps the connection")
    void upgradeRefused() throws Exception {
        var second = new CountDownLatch(1);
        start((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nfirst");
            second.await();
            RawUpstream.write(socket, "second");
        });
        String request = RawUpstream.lines("GET / HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: websocket");
        try (Socket socket = ask(request)) {
            socket.setSoTimeout(20_000);
            for (int i = 0; i < 2; i++) {
                InputStream in = socket.getInputStream();
                assertThat(RawUpstream.head(in)).startsWith("HTTP/1.1 200");
                assertThat(new String(in.readNBytes(5), StandardCharsets.ISO_8859_1))
                        .isEqualTo("first");
                second.countDown();
                assertThat(new String(in.readNBytes(6), StandardCharsets.ISO_8859_1))
                        .isEqualTo("second");
                RawUpstream.write(socket, request);
            }
        }
    }

    @Test
    @DisplayName("with a body is not tunnelled: the service gets the body and answers")
    void upgradeWithBody() throws Exception {
        start((head, socket) -> {
            String body = new String(socket.getInputStream().readNBytes(5), StandardCharsets.ISO_8859_1);
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + body);
        });
        try (Socket socket = ask(RawUpstream.lines(
                        "PUT / HTTP/1.1", "Host: a", "Connection: Upgrade, close", "Upgrade: foo", "Content-Length: 5")
                + "hello")) {
            socket.setSoTimeout(20_000);
            assertThat(rest(socket)).startsWith("HTTP/1.1 200").endsWith("hello");
        }
    }

    @Test
    @DisplayName("replaces what untrusted clients say about themselves, and drops what is for one hop")
    void forwarded() throws Exception {
        start((head, socket) -> RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        try (Socket socket = ask(RawUpstream.lines(
                "GET / HTTP/1.1",
                "Host: shop.example",
                "X-Forwarded-For: 9.9.9.9",
                "Forwarded: for=9.9.9.9",
                "Connection: close, X-Hop",
                "X-Hop: 1",
                "Proxy-Authorization: x"))) {
            rest(socket);
        }
        assertThat(upstream.heads().get(0).toLowerCase(Locale.ROOT))
                .contains("host: shop.example")
                .contains("x-forwarded-for: 127.0.0.1\r\n")
                .contains("via: 1.1 onlyonce")
                .doesNotContain("9.9.9.9")
                .doesNotContain("x-hop")
                .doesNotContain("proxy-authorization");
    }
}
