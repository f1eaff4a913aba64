package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.asking;
import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Scope;
import dev.onlyonce.store.EntryQuery;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which keys are taken, and which of them are one key. */
class BoundaryKeysTest {

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
        try (TestBoundary test = TestBoundary.of(payments().keyFormat(format).build())) {
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
        "pay-bob@example.com-1,true",
        "bob%40example.com/7,true",
        "order:4111111111111111:1,true",
        "pay-4111-1111-1111-1111-2,true",
        "pay_378282246310005,true",
        "3782-822463-10005,true",
        "pay-4111111111111112-1,false",
        "DE89370400440532013000,true",
        "pay-DE89370400440532013000-1,true",
        "pay-de89-3704-0044-0532-0130-00-1,true",
        "GB82WEST12345698765432,true",
        "DE88370400440532013000,false",
        "ZZ89370400440532013000,false",
        "call-+49-30-1234567-1,true",
        "call-%2B4930123456,true",
        "order-20261118-0001,false",
        "1763500000000000000,false",
        "job-1763500000000000-17,false",
        "2026-11-18T21:00:00+0100,false",
        "build-1.0.0+20261118123,false",
        "12345678-1234-1234-1234-123456789012,false",
        "pay-41111111-1111-1111-4111-111111111111,false",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV,false",
        "4bf92f3577b34da6a3ce929d0e0e4736,false",
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
    @DisplayName("K5 random keys are not taken for personal data: UUIDs, hexadecimal and base-32 ones")
    void randomKeys() {
        long seed = 20261118;
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[16];
            random.nextBytes(bytes);
            String hex = HexFormat.of().formatHex(bytes);
            PersonalData.refuse(new UUID(random.nextLong(), random.nextLong()).toString());
            PersonalData.refuse("order-" + new UUID(random.nextLong(), random.nextLong()) + "-1");
            PersonalData.refuse(hex);
            PersonalData.refuse("0" + new BigInteger(1, bytes).toString(32).toUpperCase(Locale.ROOT));
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
                builder -> builder.operation(payments().build()).anonymousTenant("everybody"))) {
            assertThat(test.send(nobody).status()).isEqualTo(201);
        }
    }
}
