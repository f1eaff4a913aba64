package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.FailureRule;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What becomes of a handler's answer or exception: what is sent, stored and replayed. */
class BoundaryAnswersTest {

    @Test
    @DisplayName("R1 a replay has status, headers in their order and every byte of the first answer, and is marked")
    void replay() {
        byte[] body = new byte[256];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) i;
        }
        Headers headers = Headers.of(
                "Link", "<1>", "Content-Type", "application/octet-stream", "link", "<2>", "X-Name", "Käse", "Vary", "");
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            HttpAnswer first = test.send(post("k-1"), new HttpAnswer(207, headers, body));
            HttpAnswer replay = test.send(post("k-1"));
            assertThat(replay.status()).isEqualTo(207);
            assertThat(replay.body()).isEqualTo(body);
            assertThat(first.headers())
                    .isEqualTo(headers.plus("Idempotency-Key-Expires", "Sat, 03 Jan 2026 03:04:05 GMT"));
            assertThat(replay.headers())
                    .isEqualTo(headers.plus("Idempotency-Key-Expires", "Sat, 03 Jan 2026 03:04:05 GMT")
                            .plus("Idempotent-Replayed", "true"));
        }
    }

    @Test
    @DisplayName("R4 cookies, dates, hop-by-hop, authentication and trace headers are sent once and never stored")
    void headersNotStored() {
        Headers never = Headers.of(
                "Set-Cookie",
                "a=1",
                "Date",
                "now",
                "Connection",
                "close, X-Hop",
                "X-Hop",
                "1",
                "Keep-Alive",
                "1",
                "Transfer-Encoding",
                "chunked",
                "TE",
                "1",
                "Trailer",
                "1",
                "Upgrade",
                "1",
                "Content-Length",
                "2",
                "WWW-Authenticate",
                "Bearer",
                "Authorization",
                "x",
                "Proxy-Authenticate",
                "x",
                "Proxy-Connection",
                "x",
                "Authentication-Info",
                "x",
                "traceparent",
                "x",
                "tracestate",
                "x",
                "b3",
                "x",
                "X-B3-TraceId",
                "x",
                "X-Request-ID",
                "x",
                "X-Amzn-Trace-Id",
                "x",
                "Server-Timing",
                "x");
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            HttpAnswer first = test.send(
                    post("k-1"), HttpAnswer.of(200, never.plus("ETag", "\"1\"").plus("X-Kept", "yes")));
            assertThat(first.headers().fields()).containsAll(never.fields());
            assertThat(test.send(post("k-1")).headers())
                    .isEqualTo(Headers.of(
                            "ETag",
                            "\"1\"",
                            "X-Kept",
                            "yes",
                            "Idempotency-Key-Expires",
                            "Sat, 03 Jan 2026 03:04:05 GMT",
                            "Idempotent-Replayed",
                            "true"));
        }
    }

    @Test
    @DisplayName(
            "R5 a response over the limit is delivered; the retry gets 409 with the original Location and never runs")
    void tooLarge() {
        Policy policy = Policy.builder().resultBytesMax(100).build();
        try (TestBoundary test = TestBoundary.of(payments().policy(policy).build())) {
            byte[] large = new byte[101];
            HttpAnswer first =
                    test.send(post("k-1"), new HttpAnswer(201, Headers.of("Location", "/payments/7", "X", "y"), large));
            assertThat(first.body()).isEqualTo(large);
            HttpAnswer retry = test.send(post("k-1"));
            assertProblem(retry, 409, Problem.RESPONSE_NOT_STORED);
            assertThat(header(retry, "Location")).isEqualTo("/payments/7");
            assertThat(header(retry, "Idempotent-Replayed")).isEqualTo("true");
            assertThat(json(retry).path("originalStatus").asInt()).isEqualTo(201);
            assertThat(test.effects).hasValue(1);
        }
    }

    @Test
    @DisplayName("R5 a streamed response is recorded before its first byte leaves")
    void streamed() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            Exchange.Large large = test.begin(post("k-1")).finishLarge(200, Headers.of("Location", "/p/1"));
            assertThat(large.streams()).isTrue();
            assertThat(large.answer().headers().has("Idempotency-Key-Expires")).isTrue();
            assertProblem(test.send(post("k-1")), 409, Problem.RESPONSE_NOT_STORED);
            assertThat(test.begin(post("k-2")).finishLarge(503, Headers.none()).streams())
                    .isTrue();
            assertThat(test.send(post("k-2")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("D2 a fenced-out owner's answer is not sent: the client is told that the outcome is unknown")
    void lost() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf());
                Onlyonce other = Onlyonce.builder(test.store)
                        .time(test.time)
                        .node("other")
                        .build()) {
            Exchange slow = test.begin(post("k-1"));
            Exchange streaming = test.begin(post("k-2"));
            test.time.pass(Duration.ofSeconds(31));
            // A node renews its own claims before it sweeps.
            other.operator().sweep();
            for (String key : List.of("k-1", "k-2")) {
                Entry unknown = test.store.list(EntryQuery.all(10)).stream()
                        .filter(entry -> entry.id().key().equals(key))
                        .findFirst()
                        .orElseThrow();
                test.store.resolve(List.of(
                        new Resolution(unknown.id(), 1, State.RETRYABLE, null, "alice", "not at the provider")));
            }
            assertProblem(slow.finish(created()), 409, Problem.OUTCOME_UNKNOWN);
            Exchange.Large large = streaming.finishLarge(200, Headers.none());
            assertThat(large.streams()).isFalse();
            assertProblem(large.answer(), 409, Problem.OUTCOME_UNKNOWN);
        }
    }

    @Test
    @DisplayName(
            "D23 the answer of a request that outlived its lease is sent and recorded, while nobody has decided otherwise")
    void testimony() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf());
                Onlyonce other = Onlyonce.builder(test.store)
                        .time(test.time)
                        .node("other")
                        .build()) {
            Exchange slow = test.begin(post("k-1"));
            test.time.pass(Duration.ofSeconds(31));
            other.operator().sweep();
            assertThat(slow.finish(created()).status()).isEqualTo(201);
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName(
            "D5 a handler's exception: proof of no effect is retryable, a final failure is replayed, others count as 5xx")
    void exceptions() {
        Failure failure = new Failure("card_stolen", "the card was reported stolen");
        FailureRule rule = FailureRule.standard()
                .after(thrown -> thrown instanceof IllegalStateException
                        ? java.util.Optional.of(new FailureRule.Verdict.Final(failure))
                        : java.util.Optional.empty());
        Policy policy = Policy.builder().failures(rule).build();
        try (TestBoundary test = TestBoundary.of(
                payments().profile(Profile.strict()).policy(policy).build())) {
            Exchange.Failed proven = test.begin(post("k-1")).failed(new NotExecuted("no"));
            assertProblem(proven.answer(), 500, Problem.HANDLER_FAILED);
            assertThat(proven.passes()).isTrue();
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
            Exchange.Failed known = test.begin(post("k-2")).failed(new IllegalStateException());
            assertThat(known.passes()).isFalse();
            HttpAnswer first = known.answer();
            assertProblem(first, 500, Problem.OPERATION_FAILED);
            assertThat(json(first).path("failure").asText()).isEqualTo("card_stolen");
            HttpAnswer replay = test.send(post("k-2"));
            assertThat(replay.body()).isEqualTo(first.body());
            assertThat(header(replay, "Idempotent-Replayed")).isEqualTo("true");
            Exchange third = test.begin(post("k-3"));
            assertThat(third.isAnswerRecorded(new IllegalArgumentException())).isFalse();
            third.failed(new IllegalArgumentException());
            assertProblem(test.send(post("k-3")), 409, Problem.OUTCOME_UNKNOWN);
        }
    }

    @Test
    @DisplayName("R2 in the profile stripe the answer to an exception is recorded, but not to proof of no effect")
    void exceptionsStripe() {
        try (TestBoundary test = TestBoundary.of(Profile.stripe())) {
            Exchange exchange = test.begin(post("k-1"));
            assertThat(exchange.isAnswerRecorded(new IllegalStateException())).isTrue();
            assertThat(exchange.isAnswerRecorded(new NotExecuted("no"))).isFalse();
            HttpAnswer first = exchange.failed(new IllegalStateException()).answer();
            assertThat(test.send(post("k-1")).body()).isEqualTo(first.body());
            assertThat(test.effects).hasValue(0);
        }
    }
}
