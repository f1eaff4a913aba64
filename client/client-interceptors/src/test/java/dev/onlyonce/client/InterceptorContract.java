package dev.onlyonce.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.client.journal.SqliteJournal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an interceptor gives to another HTTP client. */
public abstract class InterceptorContract {
    @TempDir
    private Path folder;

    private final Queue<Integer> script = new ConcurrentLinkedQueue<>();
    private final List<String> received = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private RetryingClient client;

    /** An answer. */
    public record Answer(int status, String body) {}

    /** Posts JSON; with a business id, or without one if it is null. */
    protected abstract Answer post(RetryingClient client, @Nullable String id, URI uri, String json) throws Exception;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.createContext("/", this::answer);
        server.start();
        client = RetryingClient.builder(SqliteJournal.open(folder.resolve("journal")))
                .policy(RetryPolicy.builder()
                        .attemptsMax(3)
                        .firstPause(Duration.ofMillis(1))
                        .build())
                .build();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        client.close();
    }

    /** The next status of the script; 0 hangs up. */
    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            received.add(exchange.getRequestHeaders().getFirst("Idempotency-Key") + " " + exchange.getRequestMethod()
                    + " " + exchange.getRequestURI() + " " + type + " " + body);
            Integer status = script.poll();
            if (status != null && status == 0) {
                return;
            }
            byte[] answer = "{\"id\":7}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.getResponseHeaders().set("Location", "/elsewhere");
            exchange.sendResponseHeaders(status == null ? 201 : status, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    private URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/payments?shop=7");
    }

    private Answer post(@Nullable String id) throws Exception {
        return post(client, id, uri(), "{\"cents\":990}");
    }

    @Test
    @DisplayName(
            "X1 X3 a request is retried with one key and the same bytes, and a repetition is answered from the journal")
    void retries() throws Exception {
        script.addAll(List.of(503, 0));
        assertThat(post("order-42")).isEqualTo(new Answer(201, "{\"id\":7}"));
        assertThat(new ArrayList<>(received)).hasSize(3);
        assertThat(received.stream().distinct())
                .hasSize(1)
                .allMatch(each -> each.endsWith(" POST /payments?shop=7 application/json {\"cents\":990}"));
        assertThat(received.get(0)).doesNotStartWith("null");
        assertThat(post("order-42")).isEqualTo(new Answer(201, "{\"id\":7}"));
        assertThat(received).hasSize(3);
        assertThat(client.pending()).isEmpty();
    }

    @Test
    @DisplayName("a refusal is an answer")
    void refused() throws Exception {
        script.add(402);
        assertThat(post("order-42").status()).isEqualTo(402);
        assertThat(received).hasSize(1);
    }

    @Test
    @DisplayName("307 is followed with method, body and key, and 302 is not followed")
    void redirects() throws Exception {
        script.add(302);
        assertThatThrownBy(() -> post("order-1")).hasStackTraceContaining("redirects to another page");
        assertThat(received).hasSize(1);
        script.add(307);
        assertThat(post("order-2").status()).isEqualTo(201);
        assertThat(received.get(2)).contains(" POST /elsewhere application/json {\"cents\":990}");
        assertThat(received.get(2)).startsWith(received.get(1).substring(0, 36));
    }

    @Test
    @DisplayName("a call in doubt is an exception that explains itself, and the key is kept")
    void inDoubt() {
        script.addAll(List.of(0, 503, 500, 500, 500));
        assertThatThrownBy(() -> post("order-42"))
                .satisfiesAnyOf(
                        e -> assertThat(e).isInstanceOf(CallInDoubt.class),
                        e -> assertThat(e).hasRootCauseInstanceOf(CallInDoubt.class))
                .hasStackTraceContaining("order-42 is in doubt: all attempts were used");
        assertThat(client.pending())
                .singleElement()
                .satisfies(call -> assertThat(call.id()).isEqualTo("order-42"));
    }

    @Test
    @DisplayName("a server that does not honour keys gets a request once that timed out there")
    void onceWithoutKeys() {
        script.add(408);
        RetryPolicy policy = RetryPolicy.builder().honoursKeys(false).build();
        try (RetryingClient careful = RetryingClient.builder(SqliteJournal.open(folder.resolve("careful")))
                .policy(policy)
                .build()) {
            assertThatThrownBy(() -> post(careful, "order-42", uri(), "{}"))
                    .hasStackTraceContaining("order-42 is in doubt");
        }
        assertThat(received).hasSize(1);
    }

    @Test
    @DisplayName("a request without a business id passes untouched")
    void without() throws Exception {
        script.add(503);
        assertThat(post((String) null).status()).isEqualTo(503);
        assertThat(received).singleElement().asString().startsWith("null POST");
    }

    /** Sends the parts, with a pause after each, again and again. */
    private static void drip(Socket socket, String first, String part) throws IOException {
        try (socket) {
            socket.getOutputStream().write(first.getBytes(StandardCharsets.ISO_8859_1));
            for (int i = 0; i < 3000; i++) {
                socket.getOutputStream().write(part.getBytes(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().flush();
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n', 'x'",
        "'HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\nx', ''",
        "'HTTP/1.1 201 Created\r\n', 'X-More: 1\r\n'",
        "'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'",
        "'', ''"
    })
    @Timeout(value = 50, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @DisplayName("X6 a server that drips its answer, or says nothing, is given up when the time is over")
    void drips(String first, String part) throws Exception {
        RetryPolicy policy = RetryPolicy.builder()
                .attemptTimeout(Duration.ofMillis(400))
                .deadline(Duration.ofSeconds(2))
                .attemptsMax(2)
                .firstPause(Duration.ofMillis(1))
                .build();
        try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                RetryingClient careful = RetryingClient.builder(SqliteJournal.open(folder.resolve("careful")))
                        .policy(policy)
                        .build()) {
            Thread server = new Thread(() -> {
                while (!listener.isClosed()) {
                    try {
                        Socket socket = listener.accept();
                        Thread thread = new Thread(() -> {
                            try {
                                drip(socket, first, part);
                            } catch (IOException e) {
                                // The client has gone.
                            }
                        });
                        thread.setDaemon(true);
                        thread.start();
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            server.setDaemon(true);
            server.start();
            URI slow = URI.create("http://127.0.0.1:" + listener.getLocalPort() + "/pay");
            long begun = System.nanoTime();
            assertThatThrownBy(() -> post(careful, "order-42", slow, "{}")).hasStackTraceContaining("in doubt");
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
            assertThat(Thread.interrupted()).isFalse();
            assertThat(careful.pending()).hasSize(1);
        }
    }

    @Test
    @DisplayName("X6 of an answer without end, as much is read as anybody wants, and the call is done")
    void huge() throws Exception {
        server.removeContext("/");
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.getRequestBody().readAllBytes();
                received.add("huge");
                exchange.sendResponseHeaders(201, 0);
                byte[] block = new byte[1 << 20];
                Arrays.fill(block, (byte) 'x');
                for (int i = 0; i < 600; i++) {
                    exchange.getResponseBody().write(block);
                }
            }
        });
        RetryPolicy patient =
                RetryPolicy.builder().attemptTimeout(Duration.ofSeconds(50)).build();
        try (RetryingClient careful = RetryingClient.builder(SqliteJournal.open(folder.resolve("careful")))
                .policy(patient)
                .build()) {
            Answer answer = post(careful, "order-42", uri(), "{}");
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.body()).hasSize(CallResponse.BODY_BYTES_MAX);
            assertThat(received).containsExactly("huge");
            assertThat(careful.pending()).isEmpty();
        }
    }
}
