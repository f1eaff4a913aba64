package dev.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** A boundary on a store in memory with a clock that stands still, and a handler that counts its effects. */
final class TestBoundary implements AutoCloseable {
    static final String JSON = "application/json";

    final StandingTime time;
    final MemoryStore store;
    final Onlyonce once;
    final AtomicInteger effects = new AtomicInteger();
    private final Boundary boundary;

    /** Time that passes when told to. Nothing in these tests waits for background work. */
    static final class StandingTime implements Time {
        private Instant now = Instant.parse("2026-01-02T03:04:05.600Z");
        private long nanos;
        final List<Duration> delays = new ArrayList<>();
        private final List<Runnable> atOnce = new ArrayList<>();

        void pass(Duration duration) {
            now = now.plus(duration);
            nanos += duration.toNanos();
        }

        @Override
        public Instant now() {
            return now;
        }

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            delays.add(delay);
            if (delay.isZero()) {
                atOnce.add(task);
            }
            return () -> {};
        }

        /** Does what was to be done at once in the background. */
        void runAtOnce() {
            List<Runnable> tasks = List.copyOf(atOnce);
            atOnce.clear();
            tasks.forEach(Runnable::run);
        }

        @Override
        public boolean await(CompletableFuture<?> signal, Duration max) {
            pass(max);
            return signal.isDone();
        }

        @Override
        public void close() {}
    }

    TestBoundary(UnaryOperator<Boundary.Builder> setting) {
        this(new StandingTime(), setting);
    }

    TestBoundary(StandingTime time, UnaryOperator<Boundary.Builder> setting) {
        this.time = time;
        this.store = new MemoryStore(time);
        once = Onlyonce.builder(store).time(time).build();
        boundary = setting.apply(Boundary.builder(once)).build();
    }

    static TestBoundary of(Operation... operations) {
        return new TestBoundary(builder -> {
            for (Operation operation : operations) {
                builder.operation(operation);
            }
            return builder;
        });
    }

    static TestBoundary of(Profile profile) {
        return of(payments().profile(profile).build());
    }

    static Operation.Builder payments() {
        return Operation.builder("POST", "/payments");
    }

    Boundary boundary() {
        return boundary;
    }

    /** Decides on a request as a filter does. */
    Exchange decide(HttpRequest request) {
        return decide(boundary, request);
    }

    static Exchange decide(Boundary boundary, HttpRequest request) {
        Operation operation =
                boundary.operation(request.method(), request.path()).orElseThrow();
        return boundary.exchange(operation, request).begin();
    }

    /** The whole way of a request whose handler answers 201. */
    HttpAnswer send(HttpRequest request) {
        return send(request, created());
    }

    HttpAnswer send(HttpRequest request, HttpAnswer handlers) {
        Exchange exchange = decide(request);
        if (exchange.stage() == Exchange.Stage.RUNNING) {
            effects.incrementAndGet();
            return exchange.finish(handlers);
        }
        return exchange.answer();
    }

    /** Begins to execute. */
    Exchange begin(HttpRequest request) {
        Exchange exchange = decide(request);
        assertThat(exchange.stage()).isEqualTo(Exchange.Stage.RUNNING);
        return exchange;
    }

    static HttpAnswer created() {
        return answer(201, "{\"id\":7}");
    }

    static HttpAnswer answer(int status, String body) {
        return new HttpAnswer(
                status,
                Headers.of("Content-Type", JSON, "Location", "/payments/7"),
                body.getBytes(StandardCharsets.UTF_8));
    }

    static HttpRequest post(String key) {
        return post("/payments", key, "{\"amount\":10}");
    }

    static HttpRequest post(String path, String key, String body) {
        return request("POST", path, Headers.of("Content-Type", JSON, "Idempotency-Key", key), body, "acme");
    }

    /** With the headers, for an empty object. */
    static HttpRequest asking(Headers headers) {
        return request("POST", "/payments", headers, "{}", "acme");
    }

    static HttpRequest request(String method, String path, Headers headers, String body, String tenant) {
        int query = path.indexOf('?');
        return new HttpRequest(
                method,
                query < 0 ? path : path.substring(0, query),
                query < 0 ? null : path.substring(query + 1),
                headers,
                body.getBytes(StandardCharsets.UTF_8),
                tenant);
    }

    static JsonNode json(HttpAnswer answer) {
        try {
            return new ObjectMapper().readTree(answer.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String code(HttpAnswer answer) {
        return json(answer).path("code").asText();
    }

    static String header(HttpAnswer answer, String name) {
        return answer.headers().first(name).orElse(null);
    }

    /** A refusal as RFC 9457 has it. */
    static void assertProblem(HttpAnswer answer, int status, Problem problem) {
        assertThat(answer.status()).isEqualTo(status);
        assertThat(header(answer, "Content-Type")).isEqualTo("application/problem+json");
        JsonNode body = json(answer);
        assertThat(body.path("code").asText()).isEqualTo(problem.code());
        assertThat(body.path("type").asText()).isEqualTo(problem.type());
        assertThat(body.path("title").asText()).isEqualTo(problem.title());
        assertThat(body.path("status").asInt()).isEqualTo(status);
        if (status == 409 || status == 429 || status == 503) {
            assertThat(header(answer, "Retry-After")).matches("[1-9][0-9]*");
        }
    }

    @Override
    public void close() {
        once.close();
    }
}
