package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.asking;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Scope;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("After an operation was renamed")
class FormerNamesTest {
    private static final Executor HERE = Runnable::run;

    private static Operation.Builder payments() {
        return TestBoundary.payments().name("pay").formerly(List.of("POST /**", "POST /payments"));
    }

    /** The same store, with the operation as it is called now. */
    private static Boundary renamed(TestBoundary before, UnaryOperator<Operation.Builder> how) {
        return Boundary.builder(before.once)
                .operation(how.apply(payments()).build())
                .build();
    }

    private static HttpAnswer send(Boundary boundary, HttpRequest request) {
        Exchange exchange = TestBoundary.decide(boundary, request);
        return exchange.stage() == Exchange.Stage.RUNNING
                ? exchange.finish(TestBoundary.answer(201, "{\"ran\":\"again\"}"))
                : exchange.answer();
    }

    @Test
    @DisplayName(
            "F1 R1 a retry of an older key gets its answer, from the store and again, and another request is still refused")
    void replayed() {
        try (TestBoundary before = TestBoundary.of(TestBoundary.payments().build())) {
            HttpAnswer first = before.send(post("k-1"));
            Boundary now = renamed(before, how -> how);
            for (int i = 0; i < 3; i++) {
                HttpAnswer retry = send(now, post("k-1"));
                assertThat(retry.body()).isEqualTo(first.body());
                assertThat(retry.headers().has("Idempotent-Replayed")).isTrue();
            }
            assertThat(send(now, asking(Headers.of("Idempotency-Key", "k-1"))).status())
                    .isEqualTo(422);
            HttpAnswer status = now.status(TestBoundary.request(
                    "GET",
                    Boundary.STATUS_PATH + "?operation=POST%20%2Fpayments",
                    Headers.of("Idempotency-Key", "k-1"),
                    "",
                    "acme"));
            assertThat(json(status).path("state").asText())
                    .as("asked for by the old Location")
                    .isEqualTo("completed");
        }
    }

    @Test
    @DisplayName("F1 without the former name the retry is a mismatch, and nothing runs")
    void withoutFormerName() {
        try (TestBoundary before = TestBoundary.of(TestBoundary.payments().build())) {
            before.send(post("k-1"));
            Boundary now = renamed(before, how -> how.formerly(List.of("another")));
            assertThat(send(now, post("k-1")).status()).isEqualTo(422);
        }
    }

    @Test
    @DisplayName("D5 an older key that is retryable runs under its old name, with the same downstream key")
    void retryable() {
        try (TestBoundary before = TestBoundary.of(TestBoundary.payments().build())) {
            Exchange attempt = before.begin(post("k-1"));
            String downstream = attempt.claim().downstreamKey("charge");
            attempt.notExecuted("the provider cannot be reached");
            Exchange again = TestBoundary.decide(renamed(before, how -> how), post("k-1"));
            assertThat(again.stage()).isEqualTo(Exchange.Stage.RUNNING);
            assertThat(again.claim().downstreamKey("charge")).isEqualTo(downstream);
            again.finish(TestBoundary.created());
        }
    }

    @Test
    @DisplayName("C1 a new key is claimed under the new name, also without blocking")
    void newKeys() {
        try (TestBoundary before = TestBoundary.of(TestBoundary.payments().build())) {
            Boundary now = renamed(before, how -> how);
            Operation operation = now.operation("POST", "/payments").orElseThrow();
            Exchange exchange = now.exchange(operation, post("k-1"))
                    .begin(new EventLoop(HERE, HERE))
                    .toCompletableFuture()
                    .join();
            assertThat(exchange.key().operation()).isEqualTo("pay");
            exchange.finish(TestBoundary.created());
            Exchange retry = now.exchange(operation, post("k-1"))
                    .begin(new EventLoop(HERE, HERE))
                    .toCompletableFuture()
                    .join();
            assertThat(retry.answer().status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("K6 an operation whose keys are its own cannot have had another name")
    void scope() {
        assertThatThrownBy(() -> payments().scope(Scope.OPERATION).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot have former names");
    }
}
