package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.EntryQuery;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A key in a field of an HTML form")
class KeyFieldTest {
    private static final String FORM = "application/x-www-form-urlencoded";

    private static TestBoundary test() {
        return TestBoundary.of(
                payments().keyField("idempotency_key").bodyBytesMax(200).build());
    }

    private static HttpRequest form(String body) {
        return form("/payments", body);
    }

    private static HttpRequest form(String path, String body) {
        return request("POST", path, Headers.of("Content-Type", FORM), body, "acme");
    }

    private static HttpRequest both(String key, String body) {
        return request("POST", "/payments", Headers.of("Content-Type", FORM, "Idempotency-Key", key), body, "acme");
    }

    @Test
    @DisplayName("makes the second press of a button a replay")
    void replayed() {
        try (TestBoundary test = test()) {
            assertThat(test.send(form("amount=10&idempotency_key=k-1")).status())
                    .isEqualTo(201);
            assertThat(header(test.send(form("amount=10&idempotency_key=k-1")), "Idempotent-Replayed"))
                    .isEqualTo("true");
            assertProblem(test.send(form("amount=11&idempotency_key=k-1")), 422, Problem.KEY_REUSED);
            assertThat(test.send(form("amount=10&idempotency_key=k-2")).status())
                    .isEqualTo(201);
            assertThat(test.effects).hasValue(2);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "idempotency_key=k-1&amount=10",
                "amount=10&idempotency%5Fkey=%6B-1",
                "amount=10&idempotency_key=%22k-1%22",
                "amount=10&idempotency_key=+k-1+&"
            })
    @DisplayName("K1 is one key in every spelling, and in every place of the form")
    void spellings(String body) {
        try (TestBoundary test = test()) {
            test.send(form("amount=10&idempotency_key=k-1"));
            assertThat(header(test.send(form(body)), "Idempotent-Replayed")).isEqualTo("true");
        }
    }

    @Test
    @DisplayName("is the same request as with the key in the header, or in both")
    void sameAsHeader() {
        try (TestBoundary test = test()) {
            test.send(form("amount=10&idempotency_key=k-1"));
            assertThat(header(test.send(both("k-1", "amount=10")), "Idempotent-Replayed"))
                    .isEqualTo("true");
            assertThat(header(test.send(both("\"k-1\"", "amount=10&idempotency_key=k-1")), "Idempotent-Replayed"))
                    .isEqualTo("true");
            HttpAnswer two = test.send(both("k-2", "amount=10&idempotency_key=k-1"));
            assertProblem(two, 400, Problem.KEY_MALFORMED);
            assertThat(json(two).path("reason").asText()).isEqualTo("several");
            assertThat(test.effects).hasValue(1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "amount=10, missing",
        "amount=10&idempotency_key, empty",
        "amount=10&idempotency_key=, empty",
        "idempotency_key=k-1&idempotency_key=k-1, several",
        "idempotency_key=a%2Cb, several",
        "idempotency_key=a+b, bad_character",
        "idempotency_key=k%C3%A4se, bad_character"
    })
    @DisplayName("K2 is refused with 400 if it is missing or malformed, and nothing is stored")
    void malformed(String body, String reason) {
        try (TestBoundary test = test()) {
            HttpAnswer answer = test.send(form(body));
            assertThat(answer.status()).isEqualTo(400);
            assertThat(json(answer).path("reason").asText()).isEqualTo(reason);
            assertThat(new String(answer.body(), StandardCharsets.UTF_8)).doesNotContain("k-1");
            assertThat(test.store.list(EntryQuery.all(1))).isEmpty();
        }
    }

    @Test
    @DisplayName("is not taken from the address, from other bodies, or from the part that was read of a large one")
    void elsewhere() {
        try (TestBoundary test = test()) {
            assertProblem(test.send(form("/payments?idempotency_key=k-1", "a=1")), 400, Problem.KEY_MISSING);
            assertProblem(
                    test.send(form("/payments?idempotency_key=k-1", "idempotency_key=k-1")),
                    400,
                    Problem.KEY_MALFORMED);
            for (String type : new String[] {"application/json", "text/plain", "multipart/form-data;boundary=x"}) {
                HttpRequest other =
                        request("POST", "/payments", Headers.of("Content-Type", type), "idempotency_key=k-1", "acme");
                assertProblem(test.send(other), 400, Problem.KEY_MISSING);
            }
            assertProblem(test.send(form("idempotency_key=" + "x".repeat(200))), 413, Problem.BODY_TOO_LARGE);
            assertThat(test.effects).hasValue(0);
        }
    }

    @Test
    @DisplayName("is not looked for unless the operation names it")
    void off() {
        try (TestBoundary test = TestBoundary.of(payments().build())) {
            assertProblem(test.send(form("idempotency_key=k-1")), 400, Problem.KEY_MISSING);
            // It is a field like others then.
            test.send(both("k-1", "idempotency_key=a"));
            assertProblem(test.send(both("k-1", "idempotency_key=b")), 422, Problem.KEY_REUSED);
        }
    }

    @Test
    @DisplayName("K3 has the format that the operation asks for, which a fresh one has")
    void fresh() {
        Operation operation =
                payments().keyField("key").keyFormat(KeyFormat.uuid()).build();
        try (TestBoundary test = TestBoundary.of(operation)) {
            assertProblem(test.send(form("key=k-1")), 400, Problem.KEY_FORMAT);
            assertThat(test.send(form("key=" + KeyField.fresh())).status()).isEqualTo(201);
            assertThat(test.send(form("key=" + KeyField.fresh())).status()).isEqualTo(201);
            assertThat(test.effects).hasValue(2);
        }
    }

    @Test
    @DisplayName("is published, and refused where it cannot protect")
    void configured() {
        try (TestBoundary test = test()) {
            assertThat(json(test.boundary().specification())
                            .at("/operations/0/keyField")
                            .asText())
                    .isEqualTo("idempotency_key");
        }
        assertThatThrownBy(() ->
                        payments().keyField("key").profile(Profile.stripe()).build())
                .hasMessageContaining("require keys");
        assertThatThrownBy(() ->
                        payments().keyField("key").profile(Profile.of("oasis")).build())
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> payments().keyField("a key").build()).hasMessageContaining("a key");
    }
}
