package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** In a process of its own, with the memory that the documentation gives it: to run out of it would end the process. */
@DisplayName("A gateway whose clients want its memory")
@Isolated
class GatewayMemoryTest {
    private static final int ANSWER_BYTES = 1_000_000;
    /** Generous: the machine may be busy, and without its own thread the probe takes a minute and more. */
    private static final Duration QUICK = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private CountingUpstream upstream;

    @BeforeEach
    void start() {
        upstream = new CountingUpstream();
    }

    @AfterEach
    void stop() {
        upstream.close();
    }

    private GatewayProcess gateway(String listen) throws IOException {
        Path config = Files.writeString(folder.resolve("gateway.yaml"), """
                listen: {host: 127.0.0.1, port: 0%s}
                admin: {port: 0}
                upstreams: [{url: %s}]
                """.formatted(listen, upstream.url()));
        return GatewayProcess.asDocumented(
                log(),
                "--config",
                config.toString(),
                "--data",
                folder.resolve("data").toString());
    }

    private Path log() {
        return folder.resolve("log");
    }

    private HttpResponse<String> post(URI url, String key, String body) throws IOException, InterruptedException {
        return client.send(request(url, key, body), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(URI url, String key, String body) {
        return HttpRequest.newBuilder(url)
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .timeout(Duration.ofSeconds(60))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    private void assertLive(GatewayProcess gateway) throws Exception {
        HttpRequest probe = HttpRequest.newBuilder(gateway.admin("/health/live"))
                .timeout(QUICK)
                .build();
        assertThat(client.send(probe, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(200);
    }

    /** Nearly 1 MiB, all of it short members that are out of order. */
    private static String manyMembers() {
        StringBuilder json = new StringBuilder("{");
        for (int i = 104_000; i > 0; i--) {
            json.append(json.length() == 1 ? "\"" : ",\"").append(i).append("\":0");
        }
        return json.append('}').toString();
    }

    @Test
    @DisplayName("F3 outlives 80 bodies at once with 100,000 members each, and serves others meanwhile")
    void members() throws Exception {
        String hostile = manyMembers();
        assertThat(hostile.length()).isBetween(950_000, 1 << 20);
        try (GatewayProcess gateway = gateway("")) {
            assertThat(post(gateway.url("/payments"), "first", "{}").statusCode())
                    .isEqualTo(201);
            List<Socket> senders = new ArrayList<>();
            try {
                // All but the last byte, so that all of them are compared at once.
                for (int i = 0; i < 80; i++) {
                    Socket socket = connect(gateway);
                    senders.add(socket);
                    String head = head("/payments", "hostile" + i, hostile.length());
                    RawUpstream.write(socket, head + hostile.substring(0, hostile.length() - 1));
                }
                for (Socket socket : senders) {
                    finish(socket);
                }
                assertLive(gateway);
                assertThat(post(gateway.url("/payments"), "first", "{}").statusCode())
                        .as("a replay")
                        .isEqualTo(201);
                int executed = 0;
                for (Socket socket : senders) {
                    executed += RawUpstream.head(socket.getInputStream()).startsWith("HTTP/1.1 201") ? 1 : 0;
                }
                assertThat(executed).isPositive();
            } finally {
                close(senders);
            }
            Eventually.eventually(() -> assertThat(
                            post(gateway.url("/payments"), "after", hostile).statusCode())
                    .as("a body of that size, when the memory was given back")
                    .isEqualTo(201));
            assertThat(gateway.isAlive()).isTrue();
        }
    }

    @Test
    @DisplayName("outlives 450 clients of HTTP/1.1 that ask for a large stored answer and never read it")
    void unreadHttp1() throws Exception {
        List<Socket> readers = new ArrayList<>();
        // An answer that is not read pins one slice, so that memory is not short: here the time-out cuts them off.
        try (GatewayProcess gateway = gateway(", idle-timeout: 2s")) {
            URI large = gateway.url("/bytes/" + ANSWER_BYTES);
            assertThat(post(large, "large", "{}").body()).hasSize(ANSWER_BYTES);
            // Several answers each: the system takes one from us at once.
            String requests = (head(large.getPath(), "large", 2) + "{}").repeat(5);
            for (int i = 0; i < 450; i++) {
                Socket socket = connect(gateway);
                readers.add(socket);
                RawUpstream.write(socket, requests);
            }
            assertOthersAreServed(gateway);
            Eventually.eventually(() -> assertThat(Files.readString(log())).contains("slow clients"));
            assertThat(scrape(gateway)).containsPattern("(?m)^gateway_clients_cut_total [1-9]");
        } finally {
            close(readers);
        }
    }

    @Test
    @DisplayName("outlives clients of HTTP/2 that grant no window for large stored answers")
    void unreadHttp2() throws Exception {
        SSLContext trusting = SelfSigned.in(folder).trusting();
        List<RawHttp2Client> readers = new ArrayList<>();
        try (GatewayProcess gateway = gateway(", tls: {certificate: cert.pem, key: key.pem}")) {
            HttpClient secure = HttpClient.newBuilder().sslContext(trusting).build();
            URI large = URI.create("https://127.0.0.1:" + gateway.port() + "/bytes/" + ANSWER_BYTES);
            HttpRequest first = HttpRequest.newBuilder(large)
                    .header("Idempotency-Key", "large")
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            assertThat(secure.send(first, HttpResponse.BodyHandlers.ofString()).body())
                    .hasSize(ANSWER_BYTES);
            for (int connection = 0; connection < 6; connection++) {
                RawHttp2Client reader = new RawHttp2Client(trusting, gateway.port(), 0);
                readers.add(reader);
                for (int stream = 0; stream < 90; stream++) {
                    reader.request("POST", large.getPath(), "large");
                }
            }
            for (int i = 0; i < 10; i++) {
                assertLive(gateway);
                assertThat(gateway.isAlive()).isTrue();
            }
            Eventually.eventually(() -> assertThat(secure.send(first, HttpResponse.BodyHandlers.ofString())
                            .body())
                    .hasSize(ANSWER_BYTES));
            assertThat(gateway.isAlive()).isTrue();
        } finally {
            for (RawHttp2Client reader : readers) {
                reader.close();
            }
        }
    }

    private static Socket connect(GatewayProcess gateway) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4 << 10);
        socket.setSoTimeout(60_000);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
        return socket;
    }

    private static String head(String path, String key, int length) {
        return RawUpstream.lines(
                "POST " + path + " HTTP/1.1",
                "Host: 127.0.0.1",
                "Idempotency-Key: " + key,
                "Content-Type: application/json",
                "Content-Length: " + length);
    }

    private static void finish(Socket socket) {
        try {
            RawUpstream.write(socket, "}");
        } catch (IOException e) {
            // It was refused before: there was no memory for so many.
        }
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private void assertOthersAreServed(GatewayProcess gateway) throws Exception {
        for (int i = 0; i < 10; i++) {
            assertLive(gateway);
            assertThat(post(gateway.url("/payments"), "other" + i, "{}").statusCode())
                    .isIn(201, 503);
        }
        Eventually.eventually(() -> assertThat(post(gateway.url("/bytes/" + ANSWER_BYTES), "large", "{}")
                        .body())
                .as("the large answer for a client that reads")
                .hasSize(ANSWER_BYTES));
        assertThat(gateway.isAlive()).isTrue();
    }

    private String scrape(GatewayProcess gateway) throws IOException, InterruptedException {
        HttpRequest metrics =
                HttpRequest.newBuilder(gateway.admin("/metrics")).timeout(QUICK).build();
        return client.send(metrics, HttpResponse.BodyHandlers.ofString()).body();
    }
}
