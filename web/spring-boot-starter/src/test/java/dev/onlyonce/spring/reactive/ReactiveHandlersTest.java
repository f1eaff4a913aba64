package dev.onlyonce.spring.reactive;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.spring.Coverage;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A protected handler of WebFlux")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReactiveHandlersTest {
    @TempDir
    static Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private ReactiveApp app;
    private ReactiveShop shop;

    @BeforeAll
    void start() {
        // As an application with R2DBC: there is no DataSource.
        app = ReactiveApp.start(
                ReactiveShop.class,
                "--onlyonce.store.sqlite=" + folder.resolve("entries.db"),
                "--onlyonce.anonymous-tenant=everybody");
        shop = app.context().getBean(ReactiveShop.class);
    }

    @AfterAll
    void stop() {
        app.close();
    }

    @Test
    @DisplayName("R1 that returns an empty Mono has answered 200 without a body, and is replayed")
    void empty() throws Exception {
        assertRunsOnce("/empty", 200, "");
    }

    @Test
    @DisplayName("R1 K2 that names a field of a form takes the key from it")
    void form() throws Exception {
        String key = UUID.randomUUID().toString();
        for (String replayed : new String[] {"", "true"}) {
            HttpResponse<String> answer = submit(key, "item=a+tea+pot&idempotency_key=" + key);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("a tea pot");
            assertThat(answer.headers().firstValue("Idempotent-Replayed").orElse(""))
                    .isEqualTo(replayed);
        }
        assertThat(submit(key, "item=a+tea+pot").statusCode()).isEqualTo(400);
        assertThat(shop.runs(key)).isEqualTo(1);
    }

    private HttpResponse<String> submit(String run, String form) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(app.base().resolve("/form"))
                .header("X-Run", run)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    @DisplayName("R1 whose Flux fits is replayed byte for byte")
    void flux() throws Exception {
        assertRunsOnce("/flux", 200, "[{\"n\":1},{\"n\":2},{\"n\":3}]");
    }

    @Test
    @DisplayName("R1 whose error an exception handler answers below 500 has refused, and is replayed")
    void refused() throws Exception {
        assertRunsOnce("/refuses", 409, null);
    }

    @Test
    @DisplayName("D4 whose error is answered with a 5xx is unknown, whoever answers it")
    void failed() throws Exception {
        for (String path :
                new String[] {"/fails", "/throws", "/fails-and-advised", "/throws-and-advised", "/flux-fails"}) {
            assertUnknown(path, 500);
        }
    }

    @Test
    @DisplayName("D5 that proves that nothing was executed may run again")
    void notExecuted() throws Exception {
        String key = UUID.randomUUID().toString();
        assertThat(post("/not-executed", key).statusCode()).isEqualTo(500);
        assertThat(post("/not-executed", key).statusCode()).isEqualTo(500);
        assertThat(shop.runs(key)).isEqualTo(2);
    }

    @Test
    @DisplayName(
            "D4 that does not answer in time is unknown in every profile, although a handler of time-outs answers for it")
    void late() throws Exception {
        assertUnknown("/late", 504);
        assertUnknown("/stripe-late", 504);
    }

    @Test
    @DisplayName("D4 whose result cannot be written is unknown, although that is answered with a refusal")
    void unwritable() throws Exception {
        assertUnknown("/unwritable", 500);
    }

    @Test
    @DisplayName("goes on when the client hangs up, and its answer is recorded")
    void hangUp() throws Exception {
        String key = UUID.randomUUID().toString();
        try (Socket socket = new Socket("localhost", app.base().getPort())) {
            socket.getOutputStream()
                    .write(("POST /gate HTTP/1.1\r\nHost: localhost\r\nX-Run: " + key + "\r\nIdempotency-Key: " + key
                                    + "\r\nContent-Length: 0\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(shop.started.await(60, SECONDS)).isTrue();
        }
        assertThat(shop.cancelled.await(60, SECONDS)).isTrue();
        shop.gate.tryEmitEmpty();
        HttpResponse<String> retry = post("/gate", key);
        while (retry.statusCode() == 409) {
            retry = post("/gate", key);
        }
        assertThat(retry.statusCode()).isEqualTo(200);
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(retry.body()).isEqualTo("through the gate");
        assertThat(shop.runs(key)).isOne();
    }

    @Test
    @DisplayName("R1 W7 may be a functional route, nested and with filters")
    void functional() throws Exception {
        assertRunsOnce("/routes/7/orders", 200, "ordered 7");
        assertUnknown("/routes/7/failing", 500);
        assertThat(app.context().getBean(Coverage.class).protectedHandlers())
                .contains("POST /routes/{id}/orders", "failing route");
        assertThat(app.context().getBean(Coverage.class).unprotectedHandlers()).contains("POST /routes/{id}/bare");
    }

    @Test
    @DisplayName("gets the parts of a multipart body, whose boundary does not matter to a retry")
    void multipart() throws Exception {
        String key = UUID.randomUUID().toString();
        assertThat(upload(key, "one", "content").body()).isEqualTo("content");
        HttpResponse<String> retry = upload(key, "two", "content");
        assertThat(retry.body()).isEqualTo("content");
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(upload(key, "one", "other").statusCode()).isEqualTo(422);
    }

    @Test
    @DisplayName("cannot be transactional: the application does not start")
    void transactional() {
        assertThatThrownBy(() -> ReactiveApp.start(
                                TransactionalShop.class,
                                "--onlyonce.store.sqlite=" + folder.resolve("transactional.db"))
                        .close())
                .rootCause()
                .hasMessageContaining("which a transaction cannot follow");
    }

    private void assertRunsOnce(String path, int status, String body) throws Exception {
        String key = UUID.randomUUID().toString();
        HttpResponse<String> first = post(path, key);
        HttpResponse<String> retry = post(path, key);
        assertThat(first.statusCode()).as(path).isEqualTo(status);
        if (body != null) {
            assertThat(first.body()).isEqualTo(body);
        }
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(retry.statusCode()).as(path).isEqualTo(status);
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(retry.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(shop.runs(key)).as(path).isOne();
    }

    private void assertUnknown(String path, int status) throws Exception {
        String key = UUID.randomUUID().toString();
        assertThat(post(path, key).statusCode()).as(path).isEqualTo(status);
        HttpResponse<String> retry = post(path, key);
        assertThat(retry.statusCode()).as(path).isEqualTo(409);
        assertThat(retry.body()).as(path).contains("outcome_unknown");
        assertThat(shop.runs(key)).as(path).isOne();
    }

    private HttpResponse<String> post(String path, String key) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create(app.base() + path))
                        .header("Idempotency-Key", key)
                        .header("X-Run", key)
                        .header("Accept", "application/json, text/plain, application/problem+json")
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> upload(String key, String boundary, String content) throws Exception {
        String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n";
        return client.send(
                HttpRequest.newBuilder(URI.create(app.base() + "/upload"))
                        .header("Idempotency-Key", key)
                        .header("X-Run", key)
                        .header("Content-Type", "multipart/form-data; boundary=" + boundary)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
