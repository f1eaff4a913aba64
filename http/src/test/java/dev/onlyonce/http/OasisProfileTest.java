package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.answer;
import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The profile oasis (Repeatable Requests 1.0)")
class OasisProfileTest {
    /** Of the clock of the tests. */
    private static final String NOW = "Fri, 02 Jan 2026 03:04:05 GMT";

    private static final String ID = "ce2b9b9e-5a3e-4a4f-9a54-2d4f4d0ec1f8";

    private static HttpRequest post(String body, String... headers) {
        return request("POST", "/payments", Headers.of(headers), body, "acme");
    }

    private static HttpRequest repeatable(String body) {
        return post(body, Repeatability.REQUEST_ID, ID, Repeatability.FIRST_SENT, NOW);
    }

    private static String result(HttpAnswer answer) {
        return header(answer, Repeatability.RESULT);
    }

    @Test
    @DisplayName("R1 executes a request once, replays its answer, and says that both were accepted")
    void repeats() {
        try (TestBoundary test = TestBoundary.of(Profile.oasis())) {
            HttpAnswer first = test.send(repeatable("{}"));
            assertThat(first.status()).isEqualTo(201);
            assertThat(result(first)).isEqualTo("accepted");
            HttpAnswer again = test.send(repeatable("{}"));
            assertThat(again.status()).isEqualTo(201);
            assertThat(again.body()).isEqualTo(created().body());
            assertThat(header(again, "Idempotent-Replayed")).isEqualTo("true");
            assertThat(result(again)).isEqualTo("accepted");
            assertThat(test.effects).hasValue(1);
        }
    }

    @Test
    @DisplayName("F1 refuses another request with the same id with 400")
    void differs() {
        try (TestBoundary test = TestBoundary.of(Profile.oasis())) {
            test.send(repeatable("{}"));
            HttpAnswer other = test.send(repeatable("{\"amount\":2}"));
            assertProblem(other, 400, Problem.KEY_REUSED);
            assertThat(result(other)).isEqualTo("rejected");
            HttpAnswer client = test.send(post(
                    "{}",
                    Repeatability.REQUEST_ID,
                    ID,
                    Repeatability.FIRST_SENT,
                    NOW,
                    Repeatability.CLIENT_ID,
                    "another"));
            assertProblem(client, 400, Problem.KEY_REUSED);
            assertThat(test.effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        // id, first sent, status, code
        ", 'Fri, 02 Jan 2026 03:04:05 GMT', 400, KEY_MISSING",
        "'', 'Fri, 02 Jan 2026 03:04:05 GMT', 400, KEY_MALFORMED",
        "id-1, , 400, TIMESTAMP_MISSING",
        "id-1, yesterday, 400, TIMESTAMP_MISSING",
        "id-1, 'Wed, 31 Dec 2025 03:04:05 GMT', 412, TIMESTAMP_REJECTED",
        "id-1, 'Fri, 02 Jan 2026 04:04:05 GMT', 412, TIMESTAMP_REJECTED"
    })
    @DisplayName("refuses a request without a usable id, or from outside the time for which ids are kept")
    void rejected(String id, String sent, int status, Problem problem) {
        Headers headers = Headers.of("Content-Type", "application/json");
        headers = id == null ? headers : headers.plus(Repeatability.REQUEST_ID, id);
        headers = sent == null ? headers : headers.plus(Repeatability.FIRST_SENT, sent);
        try (TestBoundary test = TestBoundary.of(Profile.oasis())) {
            HttpAnswer answer = test.send(request("POST", "/payments", headers, "{}", "acme"));
            assertProblem(answer, status, problem);
            assertThat(result(answer)).isEqualTo("rejected");
            assertThat(test.effects).hasValue(0);
        }
    }

    @Test
    @DisplayName("T2 answers a retry however old it is, while its id is kept")
    void oldRetry() {
        try (TestBoundary test = TestBoundary.of(payments()
                .profile(Profile.oasis())
                .requestAge(RequestAge.of(Repeatability.FIRST_SENT, Duration.ofMinutes(5)))
                .build())) {
            test.send(repeatable("{}"));
            test.time.pass(Duration.ofHours(1));
            assertThat(test.send(repeatable("{}")).status()).isEqualTo(201);
            HttpAnswer late = test.send(post("{}", Repeatability.REQUEST_ID, "another", Repeatability.FIRST_SENT, NOW));
            assertProblem(late, 412, Problem.TIMESTAMP_REJECTED);
            assertThat(test.effects).hasValue(1);
        }
    }

    @Test
    @DisplayName("D4 calls a request accepted that runs, or whose outcome is not known, and never runs it again")
    void doubt() {
        try (TestBoundary test = TestBoundary.of(Profile.oasis())) {
            Exchange running = test.begin(repeatable("{}"));
            HttpAnswer duplicate = test.decide(repeatable("{}")).answer();
            assertProblem(duplicate, 409, Problem.IN_PROGRESS);
            assertThat(result(duplicate)).isEqualTo("accepted");
            assertThat(result(running.ambiguous("time-out"))).isEqualTo("accepted");
            HttpAnswer retry = test.send(repeatable("{}"));
            assertProblem(retry, 409, Problem.OUTCOME_UNKNOWN);
            assertThat(result(retry)).isEqualTo("accepted");
        }
    }

    @Test
    @DisplayName("says accepted of an answer that is not stored, too: the next retry runs")
    void notStored() {
        try (TestBoundary test = TestBoundary.of(Profile.oasis())) {
            HttpAnswer failed = test.send(repeatable("{}"), answer(500, "{}"));
            assertThat(failed.status()).isEqualTo(500);
            assertThat(result(failed)).isEqualTo("accepted");
            assertThat(test.send(repeatable("{}")).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(2);
        }
    }

    @ParameterizedTest
    @CsvSource({"ietf", "stripe", "strict"})
    @DisplayName("is not followed by other profiles: a client that relies on it is told so with 501, and nothing runs")
    void unsupported(String profile) {
        Operation operation = payments().profile(Profile.of(profile)).build();
        assertThat(operation.concerns(repeatable("{}").headers())).isTrue();
        try (TestBoundary test = TestBoundary.of(operation)) {
            HttpAnswer answer = test.send(repeatable("{}"));
            assertThat(answer.status()).isEqualTo(501);
            assertThat(result(answer)).isEqualTo("rejected");
            assertThat(test.effects).hasValue(0);
            HttpAnswer both = test.send(
                    post("{}", Repeatability.REQUEST_ID, ID, Repeatability.FIRST_SENT, NOW, "Idempotency-Key", "k-1"));
            assertThat(both.status()).isEqualTo(201);
            assertThat(result(both)).isNull();
        }
    }

    @Test
    @DisplayName("K3 is published with the name of its header, and found by name")
    void published() {
        try (TestBoundary test = TestBoundary.of(Profile.of("oasis"))) {
            assertThat(TestBoundary.json(test.boundary().specification())
                            .path("operations")
                            .get(0)
                            .path("keyHeader")
                            .asText())
                    .isEqualTo(Repeatability.REQUEST_ID);
        }
        assertThatThrownBy(() -> Profile.of("odata")).hasMessageContaining("ietf, stripe, strict or oasis");
    }
}
