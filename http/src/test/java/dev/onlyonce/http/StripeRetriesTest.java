package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.answer;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Outcome;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Stripe's client libraries, which repeat every 409 and 5xx for a while,")
class StripeRetriesTest {
    private static final String SHOULD_RETRY = "Stripe-Should-Retry";

    @Test
    @DisplayName("R2 learn that a stored 500 does not change")
    void storedFailure() {
        try (TestBoundary test = TestBoundary.of(Profile.stripe())) {
            test.send(post("k-1"), answer(500, "{}"));
            assertThat(header(test.send(post("k-1")), SHOULD_RETRY)).isEqualTo("false");
            test.send(post("k-2"), answer(201, "{}"));
            assertThat(header(test.send(post("k-2")), SHOULD_RETRY)).isNull();
        }
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            test.send(post("k-3"), answer(404, "{}"));
            assertThat(header(test.send(post("k-3")), SHOULD_RETRY)).isNull();
        }
    }

    @Test
    @DisplayName("D4 learn that an unknown outcome does not change while they wait, but a running request does")
    void unknown() {
        try (TestBoundary test = TestBoundary.of(Profile.stripe())) {
            test.begin(post("k-1")).ambiguous("the service does not answer");
            HttpAnswer unknown = test.send(post("k-1"));
            assertThat(unknown.status()).isEqualTo(409);
            assertThat(header(unknown, SHOULD_RETRY)).isEqualTo("false");
            Exchange running = test.begin(post("k-2"));
            HttpAnswer inProgress = test.send(post("k-2"));
            assertThat(inProgress.status()).isEqualTo(409);
            assertThat(header(inProgress, SHOULD_RETRY)).isNull();
            running.finish(answer(200, "{}"));
        }
    }

    @Test
    @DisplayName("F1 an outcome without a value is a problem for whoever executes by himself")
    void refusal() {
        HttpAnswer inFlight = Answers.refusal("book", new Outcome.InFlight<>(true, Duration.ofSeconds(3)));
        TestBoundary.assertProblem(inFlight, 409, Problem.IN_PROGRESS);
        assertThat(header(inFlight, "Retry-After")).isEqualTo("3");
        TestBoundary.assertProblem(Answers.refusal("book", new Outcome.Expired<>()), 410, Problem.KEY_EXPIRED);
        TestBoundary.assertProblem(
                Answers.refusal("book", new Outcome.Unknown<>(Duration.ofSeconds(1))), 409, Problem.OUTCOME_UNKNOWN);
    }
}
