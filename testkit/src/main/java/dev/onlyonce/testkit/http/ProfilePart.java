package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which answers are stored, and the answer to another request with the same key. */
interface ProfilePart extends Part {

    @ParameterizedTest
    @CsvSource({
        "ietf,200,true",
        "ietf,303,true",
        "ietf,400,true",
        "ietf,402,true",
        "ietf,404,true",
        "ietf,405,true",
        "ietf,406,true",
        "ietf,422,true",
        "ietf,401,false",
        "ietf,403,false",
        "ietf,408,false",
        "ietf,415,false",
        "ietf,425,false",
        "ietf,429,false",
        "ietf,500,false",
        "ietf,503,false",
        "stripe,402,true",
        "stripe,429,true",
        "stripe,500,true",
        "stripe,502,true",
        "stripe,503,true",
        "stripe,504,true",
        "strict,200,true",
        "strict,402,true",
        "strict,401,false",
        "strict,403,false",
        "strict,415,false",
        "strict,429,false"
    })
    @DisplayName("R2 D7 what the profile stores is replayed, and what it does not runs again")
    default void stored(String profile, int status, boolean stored) {
        Call call = call("/" + profile + "/status/" + status);
        Answer first = call.send();
        assertThat(first.status()).isEqualTo(status);
        assertThat(first.headerLines("Idempotency-Key-Expires")).hasSize(stored ? 1 : 0);
        Answer second = call.send();
        if (stored) {
            second.assertReplayOf(first);
        } else {
            assertThat(second.status()).isEqualTo(201);
            assertThat(second.isReplay()).isFalse();
        }
        assertThat(call.effects()).isEqualTo(stored ? 1 : 2);
    }

    @ParameterizedTest
    @CsvSource({"ietf,502", "ietf,504", "strict,500", "strict,502", "strict,504"})
    @DisplayName(
            "R2 D4 a 502 or 504, and in strict every 5xx, leaves the outcome unknown: 409, and nobody can run it again")
    default void serverErrorInDoubt(String profile, int status) {
        Call call = call("/" + profile + "/status/" + status);
        assertThat(call.send().status()).isEqualTo(status);
        call.send().assertProblem(409, "outcome_unknown");
        call.json("{\"other\":1}").send().assertProblem(422, "key_reused");
        assertThat(call.path("/.well-known/idempotency/status")
                        .method("GET")
                        .send()
                        .text())
                .contains("\"state\":\"unknown\"");
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("D4 in stripe too an unknown outcome is 409, and nobody can run it again")
    default void stripeUnknown() {
        Call call = call("/stripe-unknown/status/500");
        assertThat(call.send().status()).isEqualTo(500);
        Answer retry = call.send();
        retry.assertStripeError(409, "idempotency_error", "outcome_unknown");
        assertThat(retry.headerLines("Retry-After")).hasSize(1);
        call.json("{\"other\":1}").send().assertStripeError(400, "idempotency_error", "key_reused");
        assertThat(call.effects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ietf", "strict"})
    @DisplayName("F1 the same key with another body, query or path gets 422, also while the first runs")
    default void mismatch(String profile) {
        Call call = call("/" + profile + "/gate");
        var running = call.beginAndEnter();
        call.json("{\"amount\":11}").send().assertProblem(422, "key_reused");
        call.openGate();
        assertThat(Client.join(running).status()).isEqualTo(201);
        call.json("{\"amount\":11}").send().assertProblem(422, "key_reused");
        call.path("/" + profile + "/gate?x=1").send().assertProblem(422, "key_reused");
        call.path("/" + profile + "/status/200").send().assertProblem(422, "key_reused");
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "F1 stripe refuses another request with 400 idempotency_error, and a running one with idempotency_key_in_use")
    default void stripe() {
        Call call = call("/stripe/gate");
        var running = call.beginAndEnter();
        call.json("{}").send().assertStripeError(400, "idempotency_error", "key_reused");
        call.send().assertStripeError(409, "idempotency_error", "idempotency_key_in_use");
        call.openGate();
        call.json("{}").send().assertStripeError(400, "idempotency_error", "key_reused");
        Answer first = Client.join(running);
        call.send().assertReplayOf(first);
    }

    @Test
    @DisplayName("F2 re-serialised JSON with other member order, white space and number spelling is the same request")
    default void reserialised() {
        Call call = call("/ietf/echo");
        Answer first = call.send();
        call.json("{ \"to\" : \"bob\",\n \"amount\" : 1.0e1 }").send().assertReplayOf(first);
        call.json("{\"to\":\"bob\",\"amount\":10.000000000000000000001}").send().assertProblem(422, "key_reused");
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("F3 hostile bodies get 400 or 413 and nothing runs")
    default void hostile() {
        Call call = call("/ietf/echo");
        call.json("{\"a\":1,\"a\":2}").send().assertProblem(400, "request_malformed");
        call.json("[".repeat(5000)).send().assertProblem(400, "request_malformed");
        call.json("{\"a\":1e1000000000}").send().assertProblem(400, "request_malformed");
        call.body("text/plain", "x".repeat((1 << 20) + 1)).send().assertProblem(413, "body_too_large");
        call.body("text/plain", "x".repeat((1 << 20) + 1)).inChunks().send().assertProblem(413, "body_too_large");
        assertThat(call.effects()).isZero();
        assertThat(call.send().status()).isEqualTo(201);
    }
}
