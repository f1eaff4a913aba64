package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.answer;
import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.Policy;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every row of the table of profiles. */
class ProfileTableTest {

    static Stream<Profile> all() {
        return Stream.of(Profile.ietf(), Profile.stripe(), Profile.strict());
    }

    private static HttpRequest withoutKey() {
        return request("POST", "/payments", Headers.none(), "{}", "acme");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ietf", "strict"})
    @DisplayName("K4 a missing key is refused with 400 and nothing is stored")
    void missingKey(String profile) {
        try (TestBoundary test = TestBoundary.of(Profile.of(profile))) {
            assertProblem(test.send(withoutKey()), 400, Problem.KEY_MISSING);
            assertThat(test.store.list(EntryQuery.all(10))).isEmpty();
        }
    }

    @Test
    @DisplayName("K4 in the profile stripe a request without a key runs unprotected")
    void missingKeyStripe() {
        try (TestBoundary test = TestBoundary.of(Profile.stripe())) {
            assertThat(test.decide(withoutKey()).stage()).isEqualTo(Exchange.Stage.UNPROTECTED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
    @DisplayName(
            "K4 GET, HEAD, OPTIONS, TRACE, PUT and DELETE pass through, with a key too, unless an operation asks for it")
    void otherMethods(String method) {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            assertThat(test.boundary().operation(method, "/payments")).isEmpty();
        }
        try (TestBoundary test =
                TestBoundary.of(Operation.builder(method, "/payments").build())) {
            assertProblem(
                    test.send(request(method, "/payments", Headers.none(), "", "acme")), 400, Problem.KEY_MISSING);
        }
    }

    @ParameterizedTest
    @CsvSource({"ietf,422", "strict,422"})
    @DisplayName("F1 the same key with another body, query or path is refused and nothing runs")
    void mismatch(String profile, int status) {
        try (TestBoundary test = TestBoundary.of(
                Operation.builder("POST", "/**").profile(Profile.of(profile)).build())) {
            test.send(post("k-1"));
            assertProblem(test.send(post("/payments", "k-1", "{\"amount\":11}")), status, Problem.KEY_REUSED);
            assertProblem(test.send(post("/payments?x=1", "k-1", "{\"amount\":10}")), status, Problem.KEY_REUSED);
            assertProblem(test.send(post("/refunds", "k-1", "{\"amount\":10}")), status, Problem.KEY_REUSED);
            assertThat(test.effects).hasValue(1);
        }
    }

    @Test
    @DisplayName("F1 the profile stripe refuses another request with 400 idempotency_error")
    void mismatchStripe() {
        try (TestBoundary test = TestBoundary.of(Profile.stripe())) {
            test.send(post("k-1"));
            HttpAnswer answer = test.send(post("/payments", "k-1", "{\"amount\":11}"));
            assertThat(answer.status()).isEqualTo(400);
            assertThat(json(answer).at("/error/type").asText()).isEqualTo("idempotency_error");
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    @DisplayName("F1 a mismatch is told in every state: processing, retryable, unknown, completed, expired")
    void mismatchInEveryState(Profile profile) {
        int refused = profile.status(Problem.KEY_REUSED);
        Policy policy = Policy.builder().tombstone(Duration.ofHours(1)).build();
        try (TestBoundary test =
                TestBoundary.of(payments().profile(profile).policy(policy).build())) {
            HttpRequest other = post("/payments", "k-1", "{\"amount\":11}");
            Exchange first = test.begin(post("k-1"));
            assertThat(test.send(other).status()).isEqualTo(refused);
            first.notExecuted("refused");
            assertThat(test.send(other).status()).isEqualTo(refused);
            test.begin(post("k-1")).finish(created());
            assertThat(test.send(other).status()).isEqualTo(refused);
            if (profile.tombstones()) {
                test.time.pass(Duration.ofHours(24));
                assertThat(test.send(other).status()).isEqualTo(refused);
            }
            test.begin(post("/payments", "k-2", "{}")).ambiguous("time-out");
            assertThat(test.send(post("/payments", "k-2", "{\"a\":1}")).status())
                    .isEqualTo(refused);
            assertThat(test.effects).hasValue(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ietf", "strict"})
    @DisplayName("C3 a duplicate of a running request gets 409 with Retry-After and changes nothing")
    void running(String profile) {
        try (TestBoundary test = TestBoundary.of(Profile.of(profile))) {
            Exchange first = test.begin(post("k-1"));
            var before = test.store.list(EntryQuery.all(10));
            HttpAnswer duplicate = test.send(post("k-1"));
            assertProblem(duplicate, 409, Problem.IN_PROGRESS);
            assertThat(header(duplicate, "Retry-After")).isEqualTo("1");
            assertThat(test.store.list(EntryQuery.all(10))).isEqualTo(before);
            assertThat(first.finish(created()).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("C3 the profile stripe says idempotency_key_in_use")
    void runningStripe() {
        try (TestBoundary test = TestBoundary.of(Profile.stripe())) {
            test.begin(post("k-1"));
            HttpAnswer duplicate = test.send(post("k-1"));
            assertThat(duplicate.status()).isEqualTo(409);
            assertThat(json(duplicate).at("/error/code").asText()).isEqualTo("idempotency_key_in_use");
            assertThat(header(duplicate, "Retry-After")).isEqualTo("1");
        }
    }

    @Test
    @DisplayName("C3 a duplicate of a running request can get 202 with Retry-After and a Location to poll instead")
    void runningAccepted() {
        Operation operation = payments()
                .profile(Profile.ietf().toBuilder()
                        .whenRunning(WhenRunning.ACCEPTED)
                        .build())
                .build();
        try (TestBoundary test = TestBoundary.of(operation)) {
            Exchange first = test.begin(post("k-1"));
            HttpAnswer duplicate = test.send(post("k-1"));
            assertThat(duplicate.status()).isEqualTo(202);
            assertThat(header(duplicate, "Retry-After")).isEqualTo("1");
            assertThat(header(duplicate, "Location"))
                    .isEqualTo("/.well-known/idempotency/status?operation=POST%20%2Fpayments");
            first.finish(created());
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("C3 Retry-After is the operation's usual duration if that is shorter than the lease")
    void usualDuration() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            Exchange usual = test.begin(post("k-1"));
            test.time.pass(Duration.ofMillis(2100));
            usual.finish(created());
            test.begin(post("k-2"));
            assertThat(header(test.send(post("k-2")), "Retry-After")).isEqualTo("3");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ietf,200,true",
        "ietf,201,true",
        "ietf,303,true",
        "ietf,400,true",
        "ietf,402,true",
        "ietf,404,true",
        "ietf,409,true",
        "ietf,422,true",
        "ietf,401,false",
        "ietf,403,false",
        "ietf,408,false",
        "ietf,415,false",
        "ietf,425,false",
        "ietf,429,false",
        "ietf,500,false",
        "ietf,503,false",
        "stripe,200,true",
        "stripe,401,true",
        "stripe,402,true",
        "stripe,429,true",
        "stripe,500,true",
        "stripe,503,true",
        "strict,200,true",
        "strict,303,true",
        "strict,402,true",
        "strict,404,true",
        "strict,401,false",
        "strict,403,false",
        "strict,408,false",
        "strict,415,false",
        "strict,425,false",
        "strict,429,false",
        "stripe,502,true",
        "stripe,504,true"
    })
    @DisplayName("R2 D7 what is stored is replayed, and what is not runs again")
    void stored(String profile, int status, boolean stored) {
        try (TestBoundary test = TestBoundary.of(Profile.of(profile))) {
            HttpAnswer first = test.send(post("k-1"), answer(status, "{\"n\":1}"));
            assertThat(first.status()).isEqualTo(status);
            assertThat(first.headers().has("Idempotent-Replayed")).isFalse();
            assertThat(first.headers().has("Idempotency-Key-Expires")).isEqualTo(stored);
            HttpAnswer second = test.send(post("k-1"), answer(201, "{\"n\":2}"));
            assertThat(test.effects).hasValue(stored ? 1 : 2);
            assertThat(second.status()).isEqualTo(stored ? status : 201);
            assertThat(json(second).path("n").asInt()).isEqualTo(stored ? 1 : 2);
            assertThat(header(second, "Idempotent-Replayed")).isEqualTo(stored ? "true" : null);
        }
    }

    @ParameterizedTest
    @CsvSource({"ietf,502", "ietf,504", "strict,500", "strict,502", "strict,503", "strict,504"})
    @DisplayName("R2 a 5xx that proves nothing is handed on, and the outcome is unknown from then on")
    void serverErrorInDoubt(String profile, int status) {
        try (TestBoundary test = TestBoundary.of(Profile.of(profile))) {
            assertThat(test.send(post("k-1"), answer(status, "{}")).status()).isEqualTo(status);
            assertProblem(test.send(post("k-1")), 409, Problem.OUTCOME_UNKNOWN);
            assertThat(test.effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"ietf,UNKNOWN", "stripe,COMPLETED", "strict,UNKNOWN"})
    @DisplayName("R2 an exception that leaves a leased handler is unknown, in the profile stripe stored")
    void exception(String profile, State state) {
        try (TestBoundary test = TestBoundary.of(Profile.of(profile))) {
            Exchange.Failed failed = test.begin(post("k-1")).failed(new IllegalStateException("broken"));
            assertThat(failed.answer().status()).isEqualTo(500);
            assertThat(failed.passes()).isTrue();
            assertThat(test.store.list(EntryQuery.all(1)).get(0).state()).isEqualTo(state);
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    @DisplayName("D5 an exception that proves that nothing happened is retryable in every profile")
    void provenException(Profile profile) {
        try (TestBoundary test = TestBoundary.of(profile)) {
            test.begin(post("k-1")).failed(new NotExecuted("refused"));
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("R2 an operation whose handlers undo all they did can declare exceptions, 502 and 504 retryable too")
    void retryAlways() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf().toBuilder()
                .onServerError(OnServerError.RETRY_ALWAYS)
                .build())) {
            test.begin(post("k-1")).failed(new IllegalStateException("broken"));
            assertThat(test.send(post("k-1"), answer(504, "{}")).status()).isEqualTo(504);
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ietf,401",
        "ietf,403",
        "ietf,408",
        "ietf,425",
        "ietf,429",
        "ietf,500",
        "ietf,503",
        "stripe,408",
        "stripe,429",
        "stripe,503",
        "strict,408",
        "strict,429",
        "strict,500"
    })
    @DisplayName("D10 what is answered for a handler that timed out never frees the key, in no profile")
    void late(String profile, int status) {
        try (TestBoundary test = TestBoundary.of(Profile.of(profile))) {
            assertThat(test.begin(post("k-1")).finishLate(answer(status, "{}")).status())
                    .isEqualTo(504);
            assertThat(test.store.list(EntryQuery.all(1)).get(0).state()).isEqualTo(State.UNKNOWN);
        }
        Profile retrying = Profile.of(profile).toBuilder()
                .onServerError(OnServerError.RETRY_ALWAYS)
                .build();
        assertThat(retrying.meaningAfterTimeout(status)).isEqualTo(Profile.Meaning.UNKNOWN);
    }

    @ParameterizedTest
    @MethodSource("all")
    @DisplayName("D4 an ambiguous end is 504, and then 409: nobody can run it again")
    void ambiguous(Profile profile) {
        try (TestBoundary test = TestBoundary.of(profile)) {
            HttpAnswer answer = test.begin(post("k-1")).ambiguous("no answer in time");
            assertThat(answer.status()).isEqualTo(504);
            HttpAnswer retry = test.send(post("k-1"));
            assertThat(retry.status()).isEqualTo(409);
            assertThat(header(retry, "Retry-After")).isNotNull();
            assertThat(json(retry)
                            .at(profile.errors() == ErrorFormat.STRIPE ? "/error/code" : "/code")
                            .asText())
                    .isEqualTo("outcome_unknown");
            assertThat(test.effects).hasValue(0);
            assertThat(test.store.list(EntryQuery.all(1)).get(0).state()).isEqualTo(State.UNKNOWN);
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    @DisplayName("D5 a proven non-execution is 502, and the next retry runs")
    void notExecuted(Profile profile) {
        try (TestBoundary test = TestBoundary.of(profile)) {
            assertThat(test.begin(post("k-1")).notExecuted("connection refused").status())
                    .isEqualTo(502);
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ietf", "strict"})
    @DisplayName("T2 after retention a key runs as new, or is refused with 410 while its tombstone stands")
    void expired(String profile) {
        Policy policy = Policy.builder().tombstone(Duration.ofDays(7)).build();
        try (TestBoundary test = TestBoundary.of(
                payments().profile(Profile.of(profile)).policy(policy).build())) {
            test.send(post("k-1"));
            test.time.pass(Duration.ofHours(24));
            assertProblem(test.send(post("k-1")), 410, Problem.KEY_EXPIRED);
            test.time.pass(Duration.ofDays(7));
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(2);
        }
    }

    @Test
    @DisplayName("T2 in the profile stripe a key past retention runs as new, whatever tombstone is configured")
    void expiredStripe() {
        Policy policy = Policy.builder().tombstone(Duration.ofDays(7)).build();
        try (TestBoundary test = TestBoundary.of(
                payments().profile(Profile.stripe()).policy(policy).build())) {
            test.send(post("k-1"));
            test.time.pass(Duration.ofHours(24));
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(2);
        }
    }

    @Test
    @DisplayName("Every row of the table can be changed for one operation")
    void changed() {
        Profile profile = Profile.ietf().toBuilder()
                .keyRequired(false)
                .status(Problem.KEY_REUSED, 409)
                .neverStored(java.util.Set.of(404))
                .onServerError(OnServerError.STORE)
                .errors(ErrorFormat.STRIPE)
                .build();
        try (TestBoundary test = TestBoundary.of(profile)) {
            assertThat(test.decide(withoutKey()).stage()).isEqualTo(Exchange.Stage.UNPROTECTED);
            test.send(post("k-1"), answer(500, "{}"));
            assertThat(test.send(post("k-1")).status()).isEqualTo(500);
            HttpAnswer misuse = test.send(post("/payments", "k-1", "{}"));
            assertThat(misuse.status()).isEqualTo(409);
            assertThat(json(misuse).at("/error/code").asText()).isEqualTo("key_reused");
            test.send(post("k-2"), answer(404, "{}"));
            assertThat(test.send(post("k-2")).status()).isEqualTo(201);
        }
    }
}
