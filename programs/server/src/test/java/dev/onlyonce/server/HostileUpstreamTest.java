package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A gateway in front of a service that misbehaves")
class HostileUpstreamTest {
    private static final String QUICK = "upstreams: [{url: %s, response-timeout: 500ms, connect-timeout: 10s}]\n";

    @TempDir
    Path folder;

    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private Running gateway(RawUpstream upstream) {
        return Running.start(folder, upstream.url(), QUICK.formatted(upstream.url()));
    }

    /** In no hurry: its upstream answers, or closes the connection. */
    private Running honouringKeys(RawUpstream upstream) {
        return Running.start(
                folder, upstream.url(), "upstreams: [{url: %s, honours-key: true}]".formatted(upstream.url()));
    }

    private static void isUnknown(RawUpstream upstream, Running gateway) throws Exception {
        HttpResponse<String> first = gateway.post("/payments", "k1", "{}");
        assertThat(first.statusCode()).isEqualTo(504);
        assertThat(first.body()).contains("outcome_unknown");
        assertThat(first.headers().firstValue("Retry-After")).isPresent();
        HttpResponse<String> retry = gateway.post("/payments", "k1", "{}");
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(retry.body()).contains("outcome_unknown");
        assertThat(upstream.heads()).hasSize(1);
    }

    private void endsUnknown(RawUpstream.Behaviour behaviour) throws Exception {
        try (RawUpstream upstream = new RawUpstream(behaviour);
                Running gateway = gateway(upstream)) {
            isUnknown(upstream, gateway);
            // Without a key nothing is at stake, but there must be an answer.
            HttpResponse<String> unprotected = gateway.get("/things");
            assertThat(unprotected.statusCode()).isIn(502, 504);
            Documented.problem(unprotected.body());
        }
    }

    @Test
    @DisplayName("D4 hangs: 504 outcome_unknown, and no client can run it again")
    void hangs() throws Exception {
        endsUnknown((head, socket) -> NEVER.await());
    }

    @Test
    @DisplayName("D4 resets the connection after the request: unknown")
    void resets() throws Exception {
        endsUnknown((head, socket) -> {
            socket.setSoLinger(true, 0);
            socket.close();
        });
    }

    @Test
    @DisplayName("D4 closes the connection without an answer: unknown")
    void closes() throws Exception {
        endsUnknown((head, socket) -> socket.close());
    }

    @Test
    @DisplayName("D4 answers garbage: unknown")
    void garbage() throws Exception {
        endsUnknown((head, socket) -> {
            RawUpstream.write(socket, "\u0000\u0001 this is not HTTP\r\n\r\n");
            socket.close();
        });
    }

    @Test
    @DisplayName("D4 switches protocols unasked: unknown")
    void switches() throws Exception {
        endsUnknown((head, socket) -> RawUpstream.write(
                socket, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"));
    }

    @Test
    @DisplayName("sends interim answers first: only the final one is recorded")
    void interim() throws Exception {
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(socket, "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n");
                    RawUpstream.write(socket, "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\npaid");
                });
                Running gateway =
                        Running.start(folder, upstream.url(), "upstreams: [{url: %s}]".formatted(upstream.url()))) {
            for (int i = 0; i < 2; i++) {
                HttpResponse<String> answer = gateway.post("/payments", "k1", "{}");
                assertThat(answer.statusCode()).isEqualTo(201);
                assertThat(answer.body()).isEqualTo("paid");
            }
            assertThat(upstream.heads()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\r\nConnection: close", ""})
    @DisplayName("R1 answers before it has read the request, and hangs up: an answer that came is the answer")
    void answersEarly(String connection) throws Exception {
        String body = "\"" + "x".repeat(900_000) + "\"";
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(
                            socket,
                            "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5" + connection + "\r\n\r\nlarge");
                    // What was not read makes it a reset.
                    socket.close();
                });
                Running gateway =
                        Running.start(folder, upstream.url(), "upstreams: [{url: %s}]".formatted(upstream.url()))) {
            for (int i = 0; i < 40; i++) {
                HttpResponse<String> answer = gateway.post("/payments", "k" + i, body);
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(413);
                assertThat(answer.body()).isEqualTo("large");
                assertThat(gateway.post("/payments", "k" + i, body).headers().firstValue("Idempotent-Replayed"))
                        .isPresent();
            }
            assertThat(upstream.heads()).hasSize(40);
        }
    }

    @Test
    @DisplayName("D4 breaks off in the middle of its answer: unknown")
    void breaksOff() throws Exception {
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
                    socket.close();
                });
                Running gateway = gateway(upstream)) {
            isUnknown(upstream, gateway);
        }
    }

    @Test
    @DisplayName("D4 answers byte by byte for ever: unknown when the time is over")
    void drips() throws Exception {
        try (RawUpstream upstream = new RawUpstream((head, socket) -> {
                    RawUpstream.write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
                    while (true) {
                        RawUpstream.write(socket, "x");
                        NEVER.await(50, TimeUnit.MILLISECONDS);
                    }
                });
                Running gateway = gateway(upstream)) {
            isUnknown(upstream, gateway);
        }
    }

    @Test
    @DisplayName("sends more header lines than fit: unknown, and the gateway goes on")
    void floods() throws Exception {
        endsUnknown((head, socket) -> {
            RawUpstream.write(socket, "HTTP/1.1 200 OK\r\n");
            for (int i = 0; i < 100_000; i++) {
                RawUpstream.write(socket, "X-Flood-" + i + ": " + "y".repeat(100) + "\r\n");
            }
        });
    }

    @Test
    @DisplayName("K1 gets one key in one spelling if it honours keys, and no client can keep it from coming")
    void keyArrives() throws Exception {
        try (RawUpstream upstream = new RawUpstream((head, socket) -> socket.close());
                Running gateway = honouringKeys(upstream)) {
            for (String key : new String[] {"\"k1\"", "k1"}) {
                try (Socket socket = gateway.connect()) {
                    RawUpstream.write(
                            socket,
                            RawUpstream.lines(
                                            "POST /payments HTTP/1.1",
                                            "Host: a",
                                            "Connection: close, Idempotency-Key",
                                            "Idempotency-Key: " + key,
                                            "Content-Length: 2")
                                    + "{}");
                    assertThat(RawUpstream.head(socket.getInputStream())).startsWith("HTTP/1.1 504");
                }
            }
            assertThat(upstream.heads())
                    .hasSize(2)
                    .allSatisfy(head -> assertThat(head).containsIgnoringCase("\r\nIdempotency-Key: k1\r\n"));
        }
    }

    @Test
    @DisplayName("is asked again with the same key if it is declared to honour keys itself")
    void honoursKey() throws Exception {
        try (RawUpstream upstream = new RawUpstream(new RawUpstream.Behaviour() {
                    private int calls;

                    @Override
                    public synchronized void with(String head, Socket socket) throws Exception {
                        socket.getInputStream().readNBytes(2);
                        if (++calls == 1) {
                            socket.close();
                        } else {
                            RawUpstream.write(socket, "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\npaid");
                        }
                    }
                });
                Running gateway = honouringKeys(upstream)) {
            assertThat(gateway.post("/payments", "k1", "{}").statusCode()).isEqualTo(504);
            HttpResponse<String> retry = gateway.post("/payments", "k1", "{}");
            assertThat(retry.statusCode()).isEqualTo(201);
            assertThat(retry.body()).isEqualTo("paid");
            assertThat(upstream.heads())
                    .hasSize(2)
                    .allSatisfy(head -> assertThat(head).containsIgnoringCase("Idempotency-Key: k1"));
            assertThat(upstream.heads().get(1)).containsIgnoringCase("Idempotency-Attempt: 2");
        }
    }
}
