package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A kept connection to a service")
class UpstreamConnectionsTest {
    private static final Pattern KEY = Pattern.compile("(?i)\r\nidempotency-key: *(\\S+)");
    private static final int PAYMENTS = 5;

    @TempDir
    Path folder;

    private RawUpstream upstream;
    private Running gateway;

    private void start(RawUpstream.Behaviour behaviour) {
        start(behaviour, "connections-max: 100");
    }

    private void start(RawUpstream.Behaviour behaviour, String more) {
        upstream = new RawUpstream(behaviour);
        // Kept for so long that no connection is closed for being idle.
        gateway = Running.start(
                folder,
                upstream.url(),
                "upstreams: [{url: %s, keep-idle: 5m, response-timeout: 20s, %s}]\ndefaults: {body-bytes-max: 32MiB}"
                        .formatted(upstream.url(), more));
    }

    @AfterEach
    void stop() {
        gateway.close();
        upstream.close();
    }

    /** Pays well, and does something else with everything else. */
    private void startWith(RawUpstream.Behaviour otherwise) {
        start((head, socket) -> {
            if (KEY.matcher(head).find()) {
                pay(head, socket, "");
            } else {
                otherwise.with(head, socket);
            }
        });
    }

    private static void pay(String head, Socket socket, String extra) throws Exception {
        RawUpstream.body(head, socket);
        Matcher key = KEY.matcher(head);
        assertThat(key.find()).isTrue();
        RawUpstream.write(
                socket,
                "HTTP/1.1 201 Created\r\nX-Paid: " + key.group(1) + "\r\nContent-Length: 4\r\n\r\npaid" + extra);
    }

    private void othersPay() throws Exception {
        for (int i = 0; i < PAYMENTS; i++) {
            String key = "k" + i;
            HttpResponse<String> answer = gateway.post("/payments", key, "{}");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
            assertThat(answer.headers().firstValue("X-Paid")).hasValue(key);
            assertThat(answer.body()).isEqualTo("paid");
            HttpResponse<String> again = gateway.post("/payments", key, "{}");
            assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
            assertThat(again.headers().firstValue("X-Paid")).hasValue(key);
        }
    }

    @Test
    @DisplayName("is used again, for protected and unprotected requests")
    void reused() throws Exception {
        startWith((head, socket) -> RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        othersPay();
        for (int i = 0; i < PAYMENTS; i++) {
            assertThat(gateway.get("/things").body()).isEqualTo("ok");
        }
        assertThat(upstream.connections()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "}",
                "\u00c3\u00a9\u00c3\u00a9",
                "\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
                "HTTP/1.1 100 Continue\r\n\r\n",
                "HTTP/1.1 201 Created\r\nContent-Len",
            })
    @DisplayName("D11 is not used again when bytes follow an answer: each key gets its own")
    void leftOver(String extra) throws Exception {
        start((head, socket) -> pay(head, socket, extra));
        othersPay();
    }

    @Test
    @DisplayName("D11 is not handed to a request that waits for it when bytes follow an answer")
    void leftOverForWaiting() throws Exception {
        start((head, socket) -> pay(head, socket, "}"), "connections-max: 1");
        List<CompletableFuture<HttpResponse<String>>> paying = new ArrayList<>();
        for (int i = 0; i < 4 * PAYMENTS; i++) {
            paying.add(gateway.begin("/payments", "w" + i));
        }
        for (int i = 0; i < paying.size(); i++) {
            HttpResponse<String> answer = paying.get(i).get();
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
            assertThat(answer.headers().firstValue("X-Paid")).hasValue("w" + i);
        }
    }

    @Test
    @DisplayName("D11 is not used again when more bytes follow an answer than are read at once")
    void longLeftOver() throws Exception {
        start((head, socket) -> {
            RawUpstream.body(head, socket);
            Matcher key = KEY.matcher(head);
            assertThat(key.find()).isTrue();
            RawUpstream.write(
                    socket,
                    "HTTP/1.1 201 Created\r\nX-Paid: " + key.group(1) + "\r\nX-Fill: " + "x".repeat(1900)
                            + "\r\nContent-Length: 4\r\n\r\npaid" + "y".repeat(20_000));
        });
        othersPay();
    }

    @ParameterizedTest
    @CsvSource({
        "HEAD, 200 OK, Content-Length: 5",
        "HEAD, 200 OK, Transfer-Encoding: chunked",
        "GET, 204 No Content, Content-Length: 5",
        "GET, 205 Reset Content, Content-Length: 5",
        "GET, 304 Not Modified, Content-Length: 5",
        "GET, 304 Not Modified, Transfer-Encoding: chunked",
    })
    @DisplayName("D11 is not used again after an answer without a body that announces one")
    void announced(String method, String status, String length) throws Exception {
        var answered = new CountDownLatch(1);
        startWith((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 " + status + "\r\n" + length + "\r\n\r\n");
            answered.await();
            RawUpstream.write(socket, length.startsWith("C") ? "wrong" : "5\r\nwrong\r\n0\r\n\r\n");
        });
        HttpResponse<String> answer = gateway.send(
                HttpRequest.newBuilder(gateway.url("/things")).method(method, HttpRequest.BodyPublishers.noBody()));
        assertThat(answer.statusCode()).isEqualTo(Integer.parseInt(status.substring(0, 3)));
        answered.countDown();
        othersPay();
    }

    @ParameterizedTest
    @ValueSource(strings = {"}", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"})
    @DisplayName("D11 is closed when bytes arrive that nobody asked for")
    void late(String extra) throws Exception {
        var answered = new CountDownLatch(1);
        var closed = new CountDownLatch(1);
        startWith((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            answered.await();
            RawUpstream.write(socket, extra);
            assertThat(socket.getInputStream().read()).isNegative();
            closed.countDown();
        });
        assertThat(gateway.get("/things").body()).isEqualTo("ok");
        answered.countDown();
        closed.await();
        othersPay();
    }

    @Test
    @DisplayName("D11 is not used again when an answer came before its request was sent")
    void early() throws Exception {
        var never = new CountDownLatch(1);
        start((head, socket) -> {
            if (head.contains("/large")) {
                RawUpstream.write(socket, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno");
                never.await();
            }
            pay(head, socket, "");
        });
        byte[] large = new byte[24 << 20];
        HttpResponse<String> answer = gateway.send(gateway.request("/large", "large")
                .setHeader("Content-Type", "application/octet-stream")
                .POST(HttpRequest.BodyPublishers.ofByteArray(large)));
        assertThat(answer.statusCode()).isEqualTo(413);
        othersPay();
    }

    @Test
    @DisplayName("D11 is not used again when the service says, among other things, that it closes it")
    void closes() throws Exception {
        startWith((head, socket) -> RawUpstream.write(
                socket, "HTTP/1.1 200 OK\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nok"));
        HttpResponse<String> answer = gateway.get("/things");
        assertThat(answer.body()).isEqualTo("ok");
        assertThat(answer.headers().firstValue("X-Hop")).isEmpty();
        othersPay();
        assertThat(upstream.connections()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"099", "600", "799", "999", "1000", "20", "0200", "+200", "2xx"})
    @DisplayName("D4 a status that HTTP does not know is no answer: unknown, and never run again")
    void garbageStatus(String status) throws Exception {
        start((head, socket) -> {
            RawUpstream.body(head, socket);
            RawUpstream.write(socket, "HTTP/1.1 " + status + " Odd\r\nContent-Length: 2\r\n\r\nok");
        });
        assertThat(gateway.post("/payments", "k1", "{}").body()).contains("outcome_unknown");
        assertThat(gateway.post("/payments", "k1", "{}").statusCode()).isEqualTo(409);
        assertThat(upstream.heads()).hasSize(1);
        assertThat(gateway.get("/things").statusCode()).isEqualTo(502);
    }

    @Test
    @DisplayName("D4 a body in an encoding that nobody asked for is no answer, as nobody could read it: unknown")
    void encoded() throws Exception {
        start((head, socket) -> {
            RawUpstream.body(head, socket);
            RawUpstream.write(
                    socket, "HTTP/1.1 201 Created\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\npart\r\n0\r\n\r\n");
        });
        assertThat(gateway.post("/payments", "k", "{}").statusCode()).isEqualTo(504);
        assertThat(gateway.get("/things").statusCode()).isEqualTo(502);
    }

    @Test
    @DisplayName("a header line without a name is no answer, and is not passed on")
    void namelessHeader() throws Exception {
        start((head, socket) -> RawUpstream.write(socket, "HTTP/1.1 200 OK\r\n: evil\r\nContent-Length: 2\r\n\r\nok"));
        assertThat(gateway.get("/things").statusCode()).isEqualTo(502);
    }

    @Test
    @DisplayName("answers HEAD after an interim answer without waiting for a body")
    void headAfterInterim() throws Exception {
        startWith((head, socket) -> RawUpstream.write(
                socket,
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n"));
        try (Socket socket = gateway.connect()) {
            RawUpstream.write(socket, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
                    .contains("HTTP/1.1 200");
        }
    }
}
