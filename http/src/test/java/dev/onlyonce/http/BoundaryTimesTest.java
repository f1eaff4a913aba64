package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.asking;
import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Policy;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Leases, expiry, the age of requests, and requests that nobody took. */
class BoundaryTimesTest {

    @Test
    @DisplayName("D3 an operation with a shorter lease than any before gets heartbeats in time")
    void shortLease() {
        Policy policy = Policy.builder().lease(Duration.ofMillis(600)).build();
        try (TestBoundary test = TestBoundary.of(payments().policy(policy).build())) {
            assertThat(test.time.delays).doesNotContain(Duration.ofMillis(100));
            test.begin(post("k-1"));
            assertThat(test.time.delays).endsWith(Duration.ofMillis(100));
        }
    }

    @Test
    @DisplayName("T1 the expiry is sent as an HTTP date, counted from settling")
    void expiry() {
        Policy policy = Policy.builder().retention(Duration.ofHours(1)).build();
        try (TestBoundary test = TestBoundary.of(payments().policy(policy).build())) {
            Exchange exchange = test.begin(post("k-1"));
            test.time.pass(Duration.ofSeconds(5));
            assertThat(header(exchange.finish(created()), "Idempotency-Key-Expires"))
                    .isEqualTo("Fri, 02 Jan 2026 04:04:10 GMT");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-02T03:00:00Z,true",
        "'Fri, 02 Jan 2026 03:00:00 GMT',true",
        "1767322800,true",
        "2026-01-02T04:00:00+01:00,true",
        "2026-01-02T02:04:00Z,false",
        "2026-01-02T03:10:00Z,false"
    })
    @DisplayName("T2 a stale request timestamp is refused if so configured")
    void timestamps(String made, boolean accepted) {
        RequestAge age = RequestAge.of("X-Made", Duration.ofHours(1));
        try (TestBoundary test = TestBoundary.of(payments().requestAge(age).build())) {
            HttpAnswer answer = test.send(asking(Headers.of("Idempotency-Key", "k-1", "X-Made", made)));
            if (accepted) {
                assertThat(answer.status()).isEqualTo(201);
            } else {
                assertProblem(answer, 400, Problem.TIMESTAMP_REJECTED);
            }
            assertProblem(test.send(post("k-2")), 400, Problem.TIMESTAMP_MISSING);
            HttpAnswer unreadable = test.send(asking(Headers.of("Idempotency-Key", "k-3", "X-Made", "yesterday")));
            assertProblem(unreadable, 400, Problem.TIMESTAMP_MISSING);
        }
    }

    private static HttpRequest made(String key) {
        return asking(Headers.of("Idempotency-Key", key, "X-Made", "2026-01-02T03:00:00Z"));
    }

    @Test
    @DisplayName("T2 a request that has become too old is answered if its key exists, in every state; only new keys are"
            + " refused")
    void oldRetries() {
        RequestAge age = RequestAge.of("X-Made", Duration.ofHours(1));
        try (TestBoundary test = TestBoundary.of(payments().requestAge(age).build())) {
            test.send(made("done"));
            Exchange running = test.begin(made("running"));
            test.begin(made("unknown")).ambiguous("time-out");
            test.begin(made("free")).notExecuted("refused");
            test.time.pass(Duration.ofMinutes(58));
            assertProblem(test.send(made("new")), 400, Problem.TIMESTAMP_REJECTED);
            assertThat(test.store.list(EntryQuery.all(10))).hasSize(4);
            assertThat(test.send(made("done")).headers().has("Idempotent-Replayed"))
                    .isTrue();
            assertProblem(test.send(made("running")), 409, Problem.IN_PROGRESS);
            assertProblem(test.send(made("unknown")), 409, Problem.OUTCOME_UNKNOWN);
            assertThat(test.send(made("free")).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(2);
            running.finish(created());
            test.time.pass(Duration.ofHours(24));
            for (String key : List.of("done", "running", "free")) {
                assertProblem(test.send(made(key)), 400, Problem.TIMESTAMP_REJECTED);
            }
            assertThat(test.effects).hasValue(2);
        }
    }

    @Test
    @DisplayName("T2 an entry that somebody else has made since does not let an old request through")
    void oldRequestOnNewKey() {
        RequestAge age = RequestAge.of("X-Made", Duration.ofHours(1));
        try (TestBoundary test = TestBoundary.of(payments().requestAge(age).build())) {
            test.time.pass(Duration.ofHours(3));
            Headers now = Headers.of("Idempotency-Key", "k", "X-Made", "2026-01-02T06:04:05Z");
            test.begin(asking(now)).notExecuted("refused");
            assertProblem(test.send(made("k")), 400, Problem.TIMESTAMP_REJECTED);
            assertThat(test.effects).hasValue(0);
        }
    }

    @Test
    @DisplayName("T4 a request that was accepted and that nobody took in time gets 408, now and ever")
    void pendingTooLong() {
        TestBoundary test = TestBoundary.of(Profile.ietf());
        Operation operation = test.boundary().operations().get(0);
        Exchange asked = test.boundary().exchange(operation, post("k"));
        test.store.claim(List.of(new ClaimRequest(
                asked.key().entryId(),
                operation.name(),
                asked.fingerprint(),
                UUID.randomUUID(),
                "node",
                operation.policy().terms(),
                State.PENDING)));
        test.time.pass(operation.policy().terms().lease().plusSeconds(1));
        test.once.operator().sweep();
        for (int i = 0; i < 2; i++) {
            assertProblem(test.send(post("k")), 408, Problem.PENDING_EXPIRED);
        }
        assertThat(test.effects.get()).isZero();
    }

    @Test
    @DisplayName("T2 requests may not be older than their keys are kept")
    void timestampBeyondRetention() {
        assertThatThrownBy(() -> payments()
                        .requestAge(RequestAge.of("Date", Duration.ofHours(25)))
                        .build())
                .isInstanceOf(IllegalArgumentException.class);
    }
}
