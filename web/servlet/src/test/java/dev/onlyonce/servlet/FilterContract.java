package dev.onlyonce.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Time;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the filter does in every container, over real connections. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class FilterContract extends FilterDoubtContract {
    /** Far more than anything takes on a busy machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Time time = Time.system();
    private final MemoryStore store = new MemoryStore(time);
    private final Onlyonce once = Onlyonce.builder(store).time(time).build();
    private final TestServlet servlet = new TestServlet();
    private final HttpClient client = HttpClient.newHttpClient();
    private int keys;
    private int port;

    /** Starts a container with the servlet at /app/* and the filter before it, and returns its port. */
    abstract int start(TestServlet servlet, OnlyonceFilter filter) throws Exception;

    abstract void stop() throws Exception;

    @BeforeAll
    void begin() throws Exception {
        Policy policy = Policy.builder().resultBytesMax(64 << 10).build();
        Boundary boundary = Boundary.builder(once)
                .operation(Operation.builder("POST", "/app/stripe/**")
                        .profile(Profile.stripe())
                        .build())
                .operation(Operation.builder("POST", "/app/**")
                        .policy(policy)
                        .bodyBytesMax(100_000)
                        .build())
                .build();
        OnlyonceFilter filter = OnlyonceFilter.builder(boundary)
                .tenants(request -> request.getHeader("X-User"))
                .errorPath("/app/error")
                .build();
        port = start(servlet, filter);
    }

    @AfterAll
    void end() throws Exception {
        stop();
        once.close();
        time.close();
    }

    @Override
    int effects(String key) {
        return servlet.effects(key);
    }

    @Override
    String newKey() {
        keys++;
        return "key-" + keys;
    }

    private HttpRequest.Builder request(String path, String key) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .timeout(PATIENCE)
                .header("Idempotency-Key", key)
                .header("X-User", "acme");
    }

    @Test
    @DisplayName("an operator sees the path of a request where one operation stands for many paths")
    void target() throws Exception {
        String key = newKey();
        post("/text/7?token=secret", key);
        assertThat(once.find(Key.of("acme", "POST /app/**", key))
                        .orElseThrow()
                        .fingerprint()
                        .target())
                .isEqualTo("POST /app/text/7");
    }

    private HttpResponse<byte[]> post(String path, String key, String type, String body) throws Exception {
        return client.send(
                request("/app" + path, key)
                        .header("Content-Type", type)
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofByteArray());
    }

    @Override
    HttpResponse<byte[]> post(String path, String key) throws Exception {
        return post(path, key, "text/plain", "hello");
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse(null);
    }

    /** The first answer and its replay: equal in status, body and the headers that are stored. */
    private HttpResponse<byte[]> twice(String path, String type, String body) throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post(path, key, type, body);
        HttpResponse<byte[]> replay = post(path, key, type, body);
        assertThat(header(first, "Idempotent-Replayed")).isNull();
        assertThat(header(first, "Idempotency-Key-Expires")).endsWith(" GMT");
        assertThat(header(replay, "Idempotent-Replayed")).isEqualTo("true");
        assertThat(replay.statusCode()).isEqualTo(first.statusCode());
        assertThat(replay.body()).isEqualTo(first.body());
        for (String name : new String[] {"Content-Type", "Content-Length", "Location", "Idempotency-Key-Expires"}) {
            assertThat(header(replay, name)).as(name).isEqualTo(header(first, name));
        }
        assertThat(servlet.effects(key)).isEqualTo(1);
        return replay;
    }

    @ParameterizedTest
    @CsvSource({
        "/stream,text/plain,hello,hello",
        "/reader,text/plain,hello,hello",
        "/form,application/x-www-form-urlencoded,a=1&b=2&b=K%C3%A4se,1 2|Käse",
        "/form?a=0&b=q,application/x-www-form-urlencoded,a=1&b=2,0 q|2",
        "/form?a=0&b=q,application/x-www-form-urlencoded,'',0 q",
        "/forward,text/plain,hello,hello",
        "/flush,text/plain,hello,early and late",
        "/async-dispatch,text/plain,hello,dispatched 1",
        "/async-complete,text/plain,hello,completed 1",
        "/async-own,text/plain,hello,completed 1",
        "/not-found-late,text/plain,hello,page for 404 no such thing 1"
    })
    @DisplayName("R1 the handler reads the body, and its answer is replayed byte for byte")
    void bodies(String path, String type, String body, String answer) throws Exception {
        assertThat(text(twice(path, type, body))).isEqualTo(answer);
    }

    @Test
    @DisplayName(
            "F1 a multipart body is compared by its parts: another boundary is the same request, another file is not")
    void multipart() throws Exception {
        String key = newKey();
        String one =
                "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n%s\r\n--%s--\r\n";
        assertThat(text(post("/multipart", key, "multipart/form-data; boundary=AAA", one.formatted("AAA", "x", "AAA"))))
                .isEqualTo("file=x;");
        HttpResponse<byte[]> retry =
                post("/multipart", key, "multipart/form-data; boundary=BBB", one.formatted("BBB", "x", "BBB"));
        assertThat(text(retry)).isEqualTo("file=x;");
        assertThat(header(retry, "Idempotent-Replayed")).isEqualTo("true");
        assertThat(post("/multipart", key, "multipart/form-data; boundary=AAA", one.formatted("AAA", "y", "AAA"))
                        .statusCode())
                .isEqualTo(422);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=AAA"})
    @DisplayName("F3 a multipart body that cannot be read is refused with 400, and nothing runs")
    void brokenMultipart(String type) throws Exception {
        String key = newKey();
        String cut = "--AAA\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\nx";
        HttpResponse<byte[]> refused = post("/multipart", key, type, cut);
        assertThat(refused.statusCode()).as(text(refused)).isEqualTo(400);
        assertThat(text(refused)).contains("request_malformed");
        String whole = cut + "\r\n--AAA--\r\n";
        assertThat(text(post("/multipart", key, "multipart/form-data; boundary=AAA", whole)))
                .as("the key is free")
                .isEqualTo("file=x;");
    }

    @Test
    @DisplayName("R1 character sets and compressed bodies are replayed as they were")
    void encodings() throws Exception {
        HttpResponse<byte[]> latin = twice("/charset", "text/plain", "");
        assertThat(header(latin, "Content-Type")).isEqualToIgnoringCase("text/plain;charset=ISO-8859-1");
        assertThat(new String(latin.body(), StandardCharsets.ISO_8859_1)).isEqualTo("Käse 1");
        HttpResponse<byte[]> compressed = twice("/gzip", "text/plain", "");
        assertThat(header(compressed, "Content-Encoding")).isEqualTo("gzip");
        assertThat(twice("/empty", "text/plain", "").statusCode()).isEqualTo(204);
    }

    @Test
    @DisplayName("R4 headers are replayed in their order, cookies are sent once")
    void headers() throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post("/headers", key);
        assertThat(header(first, "Set-Cookie")).startsWith("session=secret");
        HttpResponse<byte[]> replay = post("/headers", key);
        assertThat(replay.headers().firstValue("Set-Cookie")).isEmpty();
        for (HttpResponse<byte[]> response : java.util.List.of(first, replay)) {
            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(response.headers().allValues("X-Several")).containsExactly("one", "two");
            assertThat(header(response, "Last-Modified")).isEqualTo("Thu, 01 Jan 1970 00:00:00 GMT");
            assertThat(header(response, "X-Number")).isEqualTo("7");
            assertThat(header(response, "Content-Language")).isEqualTo("de");
            assertThat(header(response, "Content-Type")).isEqualTo("application/json");
            assertThat(header(response, "X-Outer")).isEqualTo("once");
            assertThat(response.headers().allValues("X-Outer")).hasSize(1);
        }
    }

    @Test
    @DisplayName("R1 redirects, error pages and resets are replayed as they were answered")
    void special() throws Exception {
        HttpResponse<byte[]> redirect = twice("/redirect", "text/plain", "");
        assertThat(redirect.statusCode()).isEqualTo(302);
        assertThat(header(redirect, "Location")).endsWith("/elsewhere?n=1");
        HttpResponse<byte[]> notFound = twice("/not-found", "text/plain", "");
        assertThat(notFound.statusCode()).isEqualTo(404);
        assertThat(text(notFound)).isEqualTo("page for 404 no such thing 1");
        HttpResponse<byte[]> reset = twice("/reset", "text/plain", "");
        assertThat(reset.statusCode()).isEqualTo(202);
        assertThat(text(reset)).isEqualTo("kept");
        assertThat(header(reset, "X-Gone")).isNull();
        assertThat(header(reset, "X-Outer")).isEqualTo("once");
    }

    @Test
    @DisplayName("R2 after a 500 that the handler itself answers the next retry runs again")
    void serverErrors() throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post("/server-error", key);
        assertThat(first.statusCode()).isEqualTo(500);
        assertThat(header(first, "Idempotency-Key-Expires")).isNull();
        assertThat(post("/server-error", key).statusCode()).isEqualTo(200);
        assertThat(servlet.effects(key)).isEqualTo(2);
    }

    @Test
    @DisplayName("R5 a response of 2 MiB is streamed; the retry gets 409 with its Location and nothing runs")
    void large() throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post("/large", key);
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body()).hasSize(2 << 20);
        assertThat(header(first, "Content-Length")).isEqualTo("2097152");
        HttpResponse<byte[]> retry = post("/large", key);
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(text(retry)).contains("response_not_stored");
        assertThat(header(retry, "Location")).isEqualTo("/things/1");
        assertThat(servlet.effects(key)).isEqualTo(1);
    }

    @Test
    @DisplayName("a body is read to its end, also when a filter has inflated it and left its length as it was")
    void inflated() throws Exception {
        HttpRequest inflated = request("/app/stream", newKey())
                .header("Content-Type", "text/plain")
                .header("X-Shortened", "yes")
                .POST(BodyPublishers.ofString("hello"))
                .build();
        assertThat(text(client.send(inflated, BodyHandlers.ofByteArray()))).isEqualTo("hello");
    }

    @Test
    @DisplayName("F1 a form that a filter outside has read reaches the handler as it was sent, and is compared")
    void formReadBefore() throws Exception {
        String key = newKey();
        assertThat(text(formReadBefore(key, "a=1&b=2&b=x+y"))).isEqualTo("0 q|2|x y");
        assertThat(text(formReadBefore(key, "a=1&b=2&b=x%20y"))).isEqualTo("0 q|2|x y");
        assertThat(formReadBefore(key, "a=1&b=2&b=z").statusCode()).isEqualTo(422);
        assertThat(servlet.effects(key)).isEqualTo(1);
    }

    private HttpResponse<byte[]> formReadBefore(String key, String form) throws Exception {
        HttpRequest request = request("/app/form?a=0&b=q", key)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("X-Read-First", "yes")
                .POST(BodyPublishers.ofString(form))
                .build();
        return client.send(request, BodyHandlers.ofByteArray());
    }

    @Test
    @DisplayName("F3 a body over the bound gets 413, with a length and in chunks")
    void bodyTooLarge() throws Exception {
        String key = newKey();
        assertThat(post("/stream", key, "text/plain", "x".repeat(100_001)).statusCode())
                .isEqualTo(413);
        byte[] large = new byte[100_001];
        HttpRequest chunked = request("/app/stream", key)
                .POST(BodyPublishers.ofInputStream(() -> new java.io.ByteArrayInputStream(large)))
                .build();
        assertThat(client.send(chunked, BodyHandlers.ofByteArray()).statusCode())
                .isEqualTo(413);
        assertThat(servlet.effects(key)).isZero();
    }

    @Test
    @DisplayName("F3 a body that does not end is refused when it is over the bound, and not held")
    void bodyWithoutEnd() throws Exception {
        try (Socket socket = new Socket("localhost", port)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            OutputStream out = socket.getOutputStream();
            out.write(("POST /app/stream HTTP/1.1\r\nHost: localhost\r\nX-User: acme\r\nIdempotency-Key: " + newKey()
                            + "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            // As much as is read of it before the answer, and a little more.
            byte[] chunk = ("10000\r\n" + "x".repeat(1 << 16) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            for (int sent = 0; sent < 100_000 + (1 << 20) + (1 << 16); sent += 1 << 16) {
                out.write(chunk);
            }
            byte[] answer = socket.getInputStream().readNBytes("HTTP/1.1 413".length());
            assertThat(new String(answer, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 413");
        }
    }

    @Test
    @DisplayName("A client that hangs up does not stop the execution, and finds its answer when it comes back")
    void hangUp(TestInfo info) throws Exception {
        String key = newKey();
        try (Socket socket = new Socket("localhost", port)) {
            socket.getOutputStream()
                    .write(("POST /app/slow HTTP/1.1\r\nHost: localhost\r\nX-User: acme\r\nContent-Type: text/plain\r\n"
                                    + "Idempotency-Key: " + key + "\r\nContent-Length: 5\r\n\r\nhello")
                            .getBytes(StandardCharsets.US_ASCII));
            servlet.slowEntered.await();
            HttpResponse<byte[]> duplicate = post("/slow", key);
            assertThat(duplicate.statusCode()).as(info.getDisplayName()).isEqualTo(409);
            assertThat(header(duplicate, "Retry-After")).matches("[1-9][0-9]*");
        }
        servlet.slowMayGo.countDown();
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        HttpResponse<byte[]> retry = post("/slow", key);
        assertThat(text(retry)).isEqualTo("done at last");
        assertThat(header(retry, "Idempotent-Replayed")).isEqualTo("true");
        assertThat(servlet.effects(key)).isEqualTo(1);
    }

    @Test
    @DisplayName("R2 in the profile stripe the page for an exception is recorded and replayed")
    void recordedException() throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post("/stripe/throw?what=runtime", key);
        assertThat(first.statusCode()).isEqualTo(500);
        assertThat(text(first)).isEqualTo("page for 500 ");
        HttpResponse<byte[]> replay = post("/stripe/throw?what=runtime", key);
        assertThat(replay.statusCode()).isEqualTo(500);
        assertThat(replay.body()).isEqualTo(first.body());
        assertThat(servlet.effects(key)).isEqualTo(1);
    }

    @Test
    @DisplayName("K4 requests of no operation pass, and the specification and the status are published")
    void published() throws Exception {
        HttpResponse<String> specification =
                client.send(request("/.well-known/idempotency", "x").GET().build(), BodyHandlers.ofString());
        assertThat(specification.statusCode()).isEqualTo(200);
        assertThat(specification.body()).contains("\"POST /app/**\"");
        String key = newKey();
        post("/stream", key);
        HttpResponse<String> status = client.send(
                request("/.well-known/idempotency/status", key).GET().build(), BodyHandlers.ofString());
        assertThat(status.body()).contains("\"state\":\"completed\"");
        HttpResponse<String> get = client.send(request("/app/stream", key).GET().build(), BodyHandlers.ofString());
        assertThat(get.statusCode()).isEqualTo(200);
        assertThat(servlet.effects(key)).isEqualTo(2);
    }

    @Test
    @DisplayName("K7 without a tenant a protected request gets 401")
    void unauthenticated() throws IOException, InterruptedException {
        HttpRequest nobody = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/app/stream"))
                .header("Idempotency-Key", "k")
                .POST(BodyPublishers.ofString("hello"))
                .build();
        assertThat(client.send(nobody, BodyHandlers.ofString()).statusCode()).isEqualTo(401);
    }

    /** The state when the entry is no longer running: the answer may have overtaken the record of a call that was cut off. */
    @Override
    State settledState(String key) {
        long deadline = time.nanos() + PATIENCE.toNanos();
        while (true) {
            State state = store.list(EntryQuery.all(1000)).stream()
                    .filter(entry -> entry.id().key().equals(key))
                    .findFirst()
                    .orElseThrow()
                    .state();
            if (state != State.PROCESSING || time.nanos() - deadline > 0) {
                return state;
            }
            try {
                time.await(new CompletableFuture<Void>(), Duration.ofMillis(20));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
