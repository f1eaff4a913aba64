package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TenantLimitsTest {

    private static TestBoundary limited(int newKeys, int live, int lookUps) {
        TestBoundary.StandingTime time = new TestBoundary.StandingTime();
        return new TestBoundary(
                time,
                builder ->
                        builder.operation(payments().build()).limits(new TenantLimits(newKeys, live, lookUps, time)));
    }

    @Test
    @DisplayName("S3 new keys over the rate get 429 with Retry-After; retries and other tenants do not")
    void newKeys() {
        try (TestBoundary test = limited(2, 0, 0)) {
            test.send(post("k-1"));
            test.send(post("k-2"));
            assertProblem(test.send(post("k-3")), 429, Problem.TOO_MANY_KEYS);
            assertThat(header(test.send(post("k-1")), "Idempotent-Replayed")).isEqualTo("true");
            HttpRequest other = request("POST", "/payments", Headers.of("Idempotency-Key", "k-3"), "", "zenith");
            assertThat(test.send(other).status()).isEqualTo(201);
            test.time.pass(Duration.ofMillis(500));
            assertThat(test.send(post("k-3")).status()).isEqualTo(201);
            assertProblem(test.send(post("k-4")), 429, Problem.TOO_MANY_KEYS);
            assertThat(test.effects).hasValue(4);
        }
    }

    @Test
    @DisplayName("S3 a retry after a proven non-execution is no new key")
    void retriesAreFree() {
        try (TestBoundary test = limited(1, 0, 0)) {
            test.begin(post("k-1")).notExecuted("refused");
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("S3 live keys over the limit get 429, duplicates of live ones 409, and an end makes room")
    void live() {
        try (TestBoundary test = limited(0, 2, 0)) {
            Exchange first = test.begin(post("k-1"));
            test.begin(post("k-2"));
            assertProblem(test.send(post("k-3")), 429, Problem.TOO_MANY_LIVE);
            assertProblem(test.send(post("k-2")), 409, Problem.IN_PROGRESS);
            first.finish(created());
            assertThat(test.send(post("k-3")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("S3 status look-ups are limited per caller")
    void lookUps() {
        try (TestBoundary test = limited(0, 0, 1)) {
            test.send(post("k-1"));
            HttpRequest ask = request("GET", "/status", Headers.of("Idempotency-Key", "k-1"), "", "acme");
            assertThat(test.boundary().status(ask).status()).isEqualTo(200);
            assertProblem(test.boundary().status(ask), 429, Problem.TOO_MANY_LOOKUPS);
            HttpRequest other = request("GET", "/status", Headers.of("Idempotency-Key", "k-1"), "", "zenith");
            assertProblem(test.boundary().status(other), 404, Problem.KEY_UNKNOWN);
            test.time.pass(Duration.ofSeconds(1));
            assertThat(test.boundary().status(ask).status()).isEqualTo(200);
        }
    }
}
