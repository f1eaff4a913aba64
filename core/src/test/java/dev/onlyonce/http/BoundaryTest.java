package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Failure;
import dev.onlyonce.FailureRule;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.State;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryQuery;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BoundaryTest {

    private static HttpRequest asking(Headers headers) {
        return request("POST", "/payments", headers, "{}", "acme");
    }

    @Test
    @DisplayName("K1 a quoted and a bare key are one key")
    void quoted() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            test.send(post("k-1"));
            assertThat(header(test.send(post("\"k-1\"")), "Idempotent-Replayed"))
                    .isEqualTo("true");
            assertThat(header(test.send(post("\"k-1\";v=2")), "Idempotent-Replayed"))
                    .isEqualTo("true");
            assertThat(test.effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "\"open", "käse", "a,b", "a\u0001b"})
    @DisplayName("K2 a malformed key is refused with 400 and nothing is stored")
    void malformed(String key) {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            HttpAnswer answer = test.send(post(key));
            assertProblem(answer, 400, Problem.KEY_MALFORMED);
            assertThat(test.store.list(EntryQuery.all(1))).isEmpty();
        }
    }

    @Test
    @DisplayName(
            "K2 two header lines and keys over 255 characters are refused with 400; the answer never repeats the key")
    void malformedMore() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            HttpAnswer twice = test.send(asking(Headers.of("Idempotency-Key", "a", "idempotency-key", "a")));
            assertProblem(twice, 400, Problem.KEY_MALFORMED);
            assertThat(json(twice).path("reason").asText()).isEqualTo("several");
            HttpAnswer tooLong = test.send(post("secret" + "x".repeat(250)));
            assertProblem(tooLong, 400, Problem.KEY_MALFORMED);
            assertThat(new String(tooLong.body(), StandardCharsets.UTF_8)).doesNotContain("secret");
            assertThat(test.send(post("x".repeat(255))).status()).isEqualTo(201);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "uuid,k-1,false",
        "uuid,8e03978e-40d5-43dd-bc93-6894a57f9324,true",
        "uuid,8E03978E-40D5-43DD-BC93-6894A57F9324,true",
        "uuid,8e03978e40d543ddbc936894a57f9324,false",
        "length,1234567,false",
        "length,12345678,true"
    })
    @DisplayName("K3 an operation can ask for a format")
    void format(String name, String key, boolean accepted) {
        KeyFormat format = name.equals("uuid") ? KeyFormat.uuid() : KeyFormat.lengthMin(8);
        try (TestBoundary test = TestBoundary.of(payments().keys(format).build())) {
            HttpAnswer answer = test.send(post(key));
            if (accepted) {
                assertThat(answer.status()).isEqualTo(201);
            } else {
                assertProblem(answer, 400, Problem.KEY_FORMAT);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "mary@example.com,true",
        "+49-30-1234567,true",
        "5551234567,true",
        "4111111111111111,true",
        "4111-1111-1111-1111,true",
        "4111111111111112,false",
        "8e03978e-40d5-43dd-bc93-6894a57f9324,false",
        "order-4711,false",
        "order@night,false"
    })
    @DisplayName("K5 keys that look like personal data are refused if so configured")
    void personal(String key, boolean refused) {
        try (TestBoundary test =
                TestBoundary.of(payments().refusePersonalKeys(true).build())) {
            HttpAnswer answer = test.send(post(key));
            if (refused) {
                assertProblem(answer, 400, Problem.KEY_PERSONAL);
            } else {
                assertThat(answer.status()).isEqualTo(201);
            }
        }
        try (TestBoundary test = TestBoundary.of(payments().build())) {
            assertThat(test.send(post(key)).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("K6 the same key on two operations is a mismatch in scope TENANT and independent in scope OPERATION")
    void scopes() {
        for (Scope scope : Scope.values()) {
            try (TestBoundary test = TestBoundary.of(
                    payments().scope(scope).build(),
                    Operation.builder("POST", "/refunds").scope(scope).build())) {
                test.send(post("/payments", "k-1", "{}"));
                assertThat(test.send(post("/refunds", "k-1", "{}")).status())
                        .isEqualTo(scope == Scope.TENANT ? 422 : 201);
            }
        }
    }

    @Test
    @DisplayName("K7 two tenants with the same key never meet")
    void tenants() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            Headers headers = Headers.of("Idempotency-Key", "k-1");
            test.begin(request("POST", "/payments", headers, "{}", "acme"));
            HttpAnswer other = test.send(request("POST", "/payments", headers, "{\"other\":1}", "zenith"));
            assertThat(other.status()).isEqualTo(201);
            assertThat(other.headers().has("Idempotent-Replayed")).isFalse();
        }
    }

    @Test
    @DisplayName(
            "K7 without authentication a protected request is refused with 401, unless an anonymous tenant is configured")
    void authentication() {
        HttpRequest nobody = request("POST", "/payments", Headers.of("Idempotency-Key", "k-1"), "{}", null);
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            HttpAnswer answer = test.send(nobody);
            assertProblem(answer, 401, Problem.AUTHENTICATION_REQUIRED);
            assertThat(header(answer, "WWW-Authenticate")).isEqualTo("Bearer");
        }
        try (TestBoundary test = new TestBoundary(
                builder -> builder.operation(payments().build()).anonymous("everybody"))) {
            assertThat(test.send(nobody).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("F2 member order, white space and number spelling do not matter")
    void reserialised() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            test.send(post("/payments", "k-1", "{\"amount\":10,\"to\":\"bob\"}"));
            HttpAnswer retry = test.send(post("/payments", "k-1", "{ \"to\" : \"bob\", \"amount\" : 1e1 }"));
            assertThat(header(retry, "Idempotent-Replayed")).isEqualTo("true");
        }
    }

    @Test
    @DisplayName("F3 bodies that are ambiguous or too large are refused with 400 and 413 and nothing is stored")
    void hostileBodies() {
        try (TestBoundary test = TestBoundary.of(payments().bodyBytesMax(100).build())) {
            HttpAnswer duplicate = test.send(post("/payments", "k-1", "{\"a\":1,\"a\":2}"));
            assertProblem(duplicate, 400, Problem.REQUEST_MALFORMED);
            assertThat(json(duplicate).path("reason").asText()).isEqualTo("duplicate_member");
            assertProblem(test.send(post("/payments", "k-1", " ".repeat(101))), 413, Problem.BODY_TOO_LARGE);
            assertThat(test.store.list(EntryQuery.all(1))).isEmpty();
        }
    }

    @Test
    @DisplayName("F1 selected headers are part of what is compared")
    void headersInFingerprint() {
        try (TestBoundary test = TestBoundary.of(
                payments().fingerprintHeaders(java.util.List.of("X-Account")).build())) {
            Headers key = Headers.of("Idempotency-Key", "k-1", "X-Trace", "1");
            test.send(asking(key.plus("X-Account", "a")));
            assertThat(test.send(asking(key.plus("X-Account", "a").set("X-Trace", "2")))
                            .status())
                    .isEqualTo(201);
            assertThat(test.send(asking(key.plus("X-Account", "b"))).status()).isEqualTo(422);
        }
    }

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
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            Exchange slow = test.begin(post("k-1"));
            test.time.pass(Duration.ofSeconds(31));
            test.once.sweep();
            assertProblem(slow.finish(created()), 409, Problem.OUTCOME_UNKNOWN);
            Exchange streaming = test.begin(post("k-2"));
            test.time.pass(Duration.ofSeconds(31));
            test.once.sweep();
            Exchange.Large large = streaming.finishLarge(200, Headers.none());
            assertThat(large.streams()).isFalse();
            assertProblem(large.answer(), 409, Problem.OUTCOME_UNKNOWN);
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
        "2026-01-02T03:10:00Z,false",
        "yesterday,false"
    })
    @DisplayName("T2 a stale request timestamp is refused if so configured")
    void timestamps(String made, boolean accepted) {
        RequestAge age = RequestAge.of("X-Made", Duration.ofHours(1));
        try (TestBoundary test = TestBoundary.of(payments().age(age).build())) {
            HttpAnswer answer = test.send(asking(Headers.of("Idempotency-Key", "k-1", "X-Made", made)));
            if (accepted) {
                assertThat(answer.status()).isEqualTo(201);
            } else {
                assertProblem(answer, 400, Problem.TIMESTAMP_REJECTED);
            }
            assertProblem(test.send(post("k-2")), 400, Problem.TIMESTAMP_MISSING);
        }
    }

    @Test
    @DisplayName("T4 a request that was accepted and that nobody took in time gets 408, now and ever")
    void pendingTooLong() {
        TestBoundary test = TestBoundary.of(Profile.ietf());
        Operation operation = test.boundary().operations().get(0);
        Checked.Asked asked = (Checked.Asked) test.boundary().check(operation, post("k"));
        test.store.claim(List.of(new ClaimRequest(
                asked.key().entryId(),
                operation.name(),
                asked.fingerprint(),
                UUID.randomUUID(),
                "node",
                operation.policy().terms(),
                State.PENDING)));
        test.time.pass(operation.policy().terms().lease().plusSeconds(1));
        test.once.sweep();
        for (int i = 0; i < 2; i++) {
            assertProblem(test.send(post("k")), 408, Problem.PENDING_EXPIRED);
        }
        assertThat(test.effects.get()).isZero();
    }

    @Test
    @DisplayName("T2 requests may not be older than their keys are kept")
    void timestampBeyondRetention() {
        assertThatThrownBy(() -> payments()
                        .age(RequestAge.of("Date", Duration.ofHours(25)))
                        .build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "/payments/{id}/capture,/payments/7/capture,true",
        "/payments/{id}/capture,/payments/7,false",
        "/payments,/payments/,true",
        "/payments,//payments,true",
        "/payments,/x/../payments,true",
        "/payments,/payments;v=1,true",
        "/payments,/%70ayments,true",
        "/payments,/x%2f..%2Fpayments,true",
        "/payments,/payments%5C,true",
        "/payments,/\\payments,true",
        "/payments/{id},/payments/a%2Fb,true",
        "/payments,/Payments,false",
        "/api/**,/api,true",
        "/api/**,/api/a/b,true",
        "/api/**,/apix,false",
        "/api/*/b,/api/a/b,true",
        "/,/,true"
    })
    @DisplayName("An operation takes every spelling of its path that a server may take for it")
    void paths(String template, String path, boolean matches) {
        try (TestBoundary test =
                TestBoundary.of(Operation.builder("POST", template).build())) {
            assertThat(test.boundary().operation("POST", path).isPresent()).isEqualTo(matches);
            assertThat(test.boundary().operation("post", path).isPresent()).isEqualTo(matches);
            assertThat(test.boundary().operation("PATCH", path)).isEmpty();
        }
    }

    @Test
    @DisplayName("Two operations cannot have one name, and templates must make sense")
    void builderChecks() {
        Operation one = payments().build();
        assertThatThrownBy(() -> TestBoundary.of(one, one)).hasMessageContaining("POST /payments");
        assertThatThrownBy(() -> Operation.builder("POST", "payments").build()).hasMessageContaining("slash");
        assertThatThrownBy(() -> Operation.builder("POST", "/**/a").build()).hasMessageContaining("last");
        assertThatThrownBy(() -> Profile.of("lax")).hasMessageContaining("ietf, stripe or strict");
    }
}
