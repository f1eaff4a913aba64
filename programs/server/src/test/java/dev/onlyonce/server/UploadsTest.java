package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

@DisplayName("Clients that upload slowly or hang up")
@Isolated
class UploadsTest {
    private static final int CLIENTS = 12;

    @TempDir
    Path folder;

    @Test
    @DisplayName("D11 leave connections to the service for everybody else")
    void slow() throws Exception {
        var never = new CountDownLatch(1);
        RawUpstream.Behaviour pays = (head, socket) -> {
            if (head.contains("/slow")) {
                never.await();
            }
            RawUpstream.body(head, socket);
            RawUpstream.write(socket, "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\npaid");
        };
        List<Socket> clients = new ArrayList<>();
        try (RawUpstream upstream = new RawUpstream(pays);
                Running gateway = Running.start(
                        folder,
                        upstream.url(),
                        "upstreams: [{url: %s, connections-max: 4}]".formatted(upstream.url()))) {
            for (int i = 0; i < CLIENTS; i++) {
                Socket client = gateway.connect();
                clients.add(client);
                RawUpstream.write(client, "PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx");
            }
            Eventually.eventually(() -> assertThat(upstream.heads()).isNotEmpty());
            for (int i = 0; i < CLIENTS; i++) {
                try (Socket client = gateway.connect()) {
                    RawUpstream.write(
                            client,
                            "POST /payments HTTP/1.1\r\nHost: a\r\nConnection: close\r\nIdempotency-Key: k" + i
                                    + "\r\nContent-Length: 2\r\n\r\n{}");
                    assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1))
                            .startsWith("HTTP/1.1 201")
                            .endsWith("paid");
                }
            }
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    @Test
    @DisplayName("are no error of ours in the log, and the service sees that the body is not whole")
    void aborts() throws Exception {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        root.addAppender(logged);
        var broken = new CountDownLatch(4);
        RawUpstream.Behaviour reads = (head, socket) -> {
            RawUpstream.write(socket, head.startsWith("GET") ? "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx" : "");
            try {
                String rest = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                assertThat(rest).doesNotEndWith("0\r\n\r\n");
            } finally {
                broken.countDown();
            }
        };
        try (RawUpstream upstream = new RawUpstream(reads);
                Running gateway = Running.start(folder, upstream.url(), "")) {
            for (String start : List.of(
                    "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx",
                    "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
                    "GET /down HTTP/1.1\r\nHost: a\r\n\r\n",
                    "GET /up HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")) {
                int before = upstream.heads().size();
                Socket client = gateway.connect();
                RawUpstream.write(client, start);
                Eventually.eventually(() -> assertThat(upstream.heads()).hasSizeGreaterThan(before));
                // A reset, as from a client that was killed.
                client.setSoLinger(true, 0);
                client.close();
            }
            broken.await();
            for (String start : List.of(
                    "",
                    "POST / HT",
                    "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
                    "GET /.well-known/idempotency HTTP/1.1\r\nHost: a\r\n\r\n",
                    "POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 9\r\n\r\n{")) {
                Socket client = gateway.connect();
                RawUpstream.write(client, start);
                if (start.endsWith("\r\n\r\n")) {
                    RawUpstream.head(client.getInputStream());
                }
                client.setSoLinger(true, 0);
                client.close();
            }
        } finally {
            root.detachAppender(logged);
        }
        assertThat(logged.list).noneMatch(event -> event.getLevel().isGreaterOrEqual(Level.ERROR));
    }
}
