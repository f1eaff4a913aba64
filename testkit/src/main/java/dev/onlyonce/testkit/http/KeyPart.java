package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys, their scope and their owners. */
interface KeyPart extends Part {

    @Test
    @DisplayName("K1 a quoted and a bare key are one key")
    default void quotedAndBare() {
        Call bare = call("/ietf/echo");
        Answer first = bare.send();
        bare.keys("\"" + bare.key() + "\"").send().assertReplayOf(first);
        bare.keys("\"" + bare.key() + "\";v=1").send().assertReplayOf(first);
        assertThat(bare.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("K2 a key sent twice is refused with 400, even if both lines are the same")
    default void keyTwice() {
        Call call = call("/ietf/echo");
        call.keys(call.key(), call.key()).send().assertProblem(400, "key_malformed");
        assertThat(call.effects()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "\"open", "a,b"})
    @DisplayName("K2 a malformed key is refused with 400")
    default void malformed(String key) {
        Call call = call("/ietf/echo").keys(key);
        call.send().assertProblem(400, "key_malformed");
        assertThat(call.effects()).isZero();
    }

    @Test
    @DisplayName("K2 keys of 255 characters are accepted, longer ones, empty ones and non-ASCII ones are not")
    default void lengthAndCharacters() {
        Call call = call("/ietf/echo");
        String prefix = call.key();
        call.keys(prefix + "x".repeat(256 - prefix.length())).send().assertProblem(400, "key_malformed");
        for (String bad : new String[] {"", "k\u00e4se"}) {
            assertThat(call.keys(bad).send().status()).isEqualTo(400);
        }
        assertThat(call.effects()).isZero();
        assertThat(call.keys(prefix + "x".repeat(255 - prefix.length())).send().status())
                .isEqualTo(201);
    }

    @Test
    @DisplayName("K3 an operation can ask for UUIDs, and publishes it")
    default void format() {
        Call call = call("/uuid/echo");
        call.keys("order-4711").send().assertProblem(400, "key_format");
        assertThat(call.send().status()).isEqualTo(201);
        assertThat(client().get("/.well-known/idempotency").text())
                .contains("\"POST /uuid/echo\"")
                .contains("\"name\":\"uuid\"")
                .contains("\"Idempotency-Key\"");
    }

    @ParameterizedTest
    @CsvSource({"GET", "PUT", "DELETE"})
    @DisplayName("K4 GET, PUT and DELETE need no key, and run every time even with one")
    default void otherMethods(String method) {
        Call call = call("/ietf/echo").method(method);
        assertThat(call.keys().send().status()).isEqualTo(201);
        assertThat(call.send().status()).isEqualTo(201);
        assertThat(call.send().isReplay()).isFalse();
        assertThat(call.effects()).isEqualTo(3);
    }

    @Test
    @DisplayName("K4 HEAD needs no key, runs every time even with one, and has no body")
    default void head() {
        Call call = call("/ietf/echo").method("HEAD");
        for (Call sent : new Call[] {call.keys(), call, call}) {
            Answer answer = sent.send();
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.isReplay()).isFalse();
            assertThat(answer.body()).isEmpty();
        }
        assertThat(call.effects()).isEqualTo(3);
    }

    @Test
    @DisplayName("K4 a missing key gets 400 in ietf and strict, and runs unprotected in stripe")
    default void missing() {
        for (String profile : new String[] {"ietf", "strict"}) {
            Call call = call("/" + profile + "/echo").keys();
            call.send().assertProblem(400, "key_missing");
            assertThat(call.effects()).isZero();
        }
        Call stripe = call("/stripe/echo").keys();
        assertThat(stripe.send().status()).isEqualTo(201);
        assertThat(stripe.send().isReplay()).isFalse();
        assertThat(stripe.effects()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mary@example.com",
                "pay-mary@example.com-1",
                "+49-30-1234567",
                "4111-1111-1111-1111",
                "pay-DE89370400440532013000"
            })
    @DisplayName("K5 keys that look like personal data are refused where so configured")
    default void personal(String key) {
        Call call = call("/personal/echo").keys(key);
        assertThat(call.send().assertProblem(400, "key_personal").text()).doesNotContain(key);
        assertThat(call.effects()).isZero();
    }

    @Test
    @DisplayName("K6 the same key on two endpoints is a mismatch in scope TENANT and independent in scope OPERATION")
    default void scopes() {
        Call tenant = call("/ietf/echo");
        tenant.send();
        tenant.path("/ietf/other").send().assertProblem(422, "key_reused");
        assertThat(tenant.effects()).isEqualTo(1);
        Call operation = call("/operation/echo");
        assertThat(operation.send().status()).isEqualTo(201);
        assertThat(operation.path("/operation/other").send().isReplay()).isFalse();
        assertThat(operation.effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("K7 two tenants with the same key never meet: not by result, conflict or status")
    default void tenants() {
        Call acme = call("/ietf/gate");
        var running = acme.beginAndEnter();
        Call zenith = acme.tenant("zenith").path("/ietf/echo").effect(acme.effect() + "-z");
        zenith.path("/.well-known/idempotency/status").method("GET").send().assertProblem(404, "key_unknown");
        Answer other = zenith.json("{\"other\":1}").send();
        assertThat(other.status()).isEqualTo(201);
        assertThat(other.isReplay()).isFalse();
        acme.openGate();
        assertThat(Client.join(running).text()).isEqualTo("done");
        assertThat(zenith.json("{\"other\":1}").send().body()).isEqualTo(other.body());
    }

    @Test
    @DisplayName("K7 nobody in particular gets 401 and nothing runs")
    default void nobody() {
        Call call = call("/ietf/echo");
        assertThat(call.tenant("").send().status()).isEqualTo(401);
        assertThat(call.effects()).isZero();
    }
}
