package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The status resource, the specification, and the documentation of problems. */
class PublishedTest {

    private static HttpRequest ask(String query, String key, String tenant) {
        return request("GET", "/status" + query, Headers.of("Idempotency-Key", key), "", tenant);
    }

    @Test
    @DisplayName("A caller learns what became of its own key, in every state")
    void status() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            Exchange running = test.begin(post("k-1"));
            HttpAnswer processing = test.boundary().status(ask("", "k-1", "acme"));
            assertThat(json(processing).path("state").asText()).isEqualTo("processing");
            assertThat(header(processing, "Retry-After")).isEqualTo("30");
            running.finish(TestBoundary.created());
            JsonNode completed = json(test.boundary().status(ask("?operation=POST+%2Fpayments", "\"k-1\"", "acme")));
            assertThat(completed.path("state").asText()).isEqualTo("completed");
            assertThat(completed.path("operation").asText()).isEqualTo("POST /payments");
            assertThat(completed.path("responseStatus").asInt()).isEqualTo(201);
            assertThat(completed.path("location").asText()).isEqualTo("/payments/7");
            assertThat(completed.path("expiresAt").asText()).isEqualTo("2026-01-03T03:04:05.600Z");
            test.begin(post("k-2")).ambiguous("time-out");
            assertThat(json(test.boundary().status(ask("", "k-2", "acme")))
                            .path("state")
                            .asText())
                    .isEqualTo("unknown");
        }
    }

    @Test
    @DisplayName("K7 an absent key and another tenant's get the same answer")
    void statusOfOthers() {
        try (TestBoundary test = TestBoundary.of(Profile.ietf())) {
            test.send(post("k-1"));
            HttpAnswer foreign = test.boundary().status(ask("", "k-1", "zenith"));
            HttpAnswer absent = test.boundary().status(ask("", "k-9", "zenith"));
            assertProblem(foreign, 404, Problem.KEY_UNKNOWN);
            assertThat(foreign.headers()).isEqualTo(absent.headers());
            assertThat(foreign.body()).isEqualTo(absent.body());
            assertProblem(test.boundary().status(ask("", "k-1", null)), 401, Problem.AUTHENTICATION_REQUIRED);
        }
    }

    @Test
    @DisplayName("The status of a key in scope OPERATION needs the operation's name")
    void statusByOperation() {
        try (TestBoundary test =
                TestBoundary.of(payments().scope(Scope.OPERATION).build())) {
            test.send(post("k-1"));
            assertThat(test.boundary().status(ask("", "k-1", "acme")).status()).isEqualTo(404);
            assertThat(test.boundary()
                            .status(ask("?a=b&operation=POST%20/payments", "k-1", "acme"))
                            .status())
                    .isEqualTo(200);
            assertProblem(test.boundary().status(ask("?operation=%ZZ", "k-1", "acme")), 404, Problem.OPERATION_UNKNOWN);
            assertProblem(test.boundary().status(ask("", "a b", "acme")), 400, Problem.KEY_MALFORMED);
        }
    }

    @Test
    @DisplayName("K3 the specification says what a client must know, for each operation")
    void specification() {
        Operation operation = payments()
                .keyFormat(KeyFormat.uuid())
                .scope(Scope.OPERATION)
                .refusePersonalKeys(true)
                .fingerprintHeaders(List.of("X-Account"))
                .requestAge(RequestAge.of("X-Made", Duration.ofMinutes(10)))
                .policy(Policy.builder().retention(Duration.ofHours(2)).build())
                .build();
        Operation lax = Operation.builder("PATCH", "/notes/{id}")
                .profile(Profile.stripe().toBuilder()
                        .whenRunning(WhenRunning.ACCEPTED)
                        .build())
                .build();
        try (TestBoundary test = TestBoundary.of(operation, lax)) {
            HttpAnswer answer = test.boundary().specification();
            assertThat(header(answer, "Content-Type")).isEqualTo("application/json");
            JsonNode document = json(answer);
            assertThat(document.at("/header/name").asText()).isEqualTo("Idempotency-Key");
            assertThat(document.at("/header/lengthMax").asInt()).isEqualTo(255);
            assertThat(document.path("statusPath").asText()).isEqualTo("/.well-known/idempotency/status");
            JsonNode payments = document.at("/operations/0");
            assertThat(payments.path("name").asText()).isEqualTo("POST /payments");
            assertThat(payments.path("keyRequired").asBoolean()).isTrue();
            assertThat(payments.at("/keyFormat/name").asText()).isEqualTo("uuid");
            assertThat(payments.path("personalKeys").asText()).isEqualTo("refused");
            assertThat(payments.path("scope").asText()).isEqualTo("operation");
            assertThat(payments.path("retentionSeconds").asInt()).isEqualTo(7200);
            assertThat(payments.at("/comparedHeaders/0").asText()).isEqualTo("X-Account");
            assertThat(payments.at("/requestAge/secondsMax").asInt()).isEqualTo(600);
            assertThat(payments.at("/statusCodes/key_reused").asInt()).isEqualTo(422);
            assertThat(payments.at("/notStored").toString()).isEqualTo("[401,403,408,415,425,429]");
            JsonNode notes = document.at("/operations/1");
            assertThat(notes.at("/statusCodes/key_reused").asInt()).isEqualTo(400);
            assertThat(notes.at("/statusCodes/in_progress").asInt()).isEqualTo(202);
            assertThat(notes.at("/statusCodes/key_missing").isMissingNode()).isTrue();
            assertThat(notes.path("serverErrors").asText()).isEqualTo("store");
        }
    }

    @Test
    @DisplayName("Every problem is documented with its code and status, and nothing else is")
    void documented() throws IOException {
        Path docs = Path.of(System.getProperty("onlyonce.root"), "docs", "reference", "problems.md");
        Matcher rows = Pattern.compile("^### (\\w+)\\n\\n\\*\\*(\\d{3})\\*\\*", Pattern.MULTILINE)
                .matcher(Files.readString(docs, StandardCharsets.UTF_8));
        List<String> documented = new ArrayList<>();
        while (rows.find()) {
            documented.add(rows.group(1) + " " + rows.group(2));
        }
        List<String> existing = new ArrayList<>();
        for (Problem problem : Problem.values()) {
            existing.add(problem.code() + " " + problem.status());
        }
        assertThat(documented).containsExactlyElementsOf(existing);
    }

    @Test
    @DisplayName("C3 K3 an application that is not at the root tells its clients whole paths")
    void underBase() {
        Operation operation = TestBoundary.payments()
                .profile(Profile.ietf().toBuilder()
                        .whenRunning(WhenRunning.ACCEPTED)
                        .build())
                .build();
        try (TestBoundary test = TestBoundary.of(operation)) {
            Boundary shop = test.boundary().under("/shop");
            assertThat(new String(shop.specification().body(), java.nio.charset.StandardCharsets.UTF_8))
                    .contains("\"statusPath\":\"/shop/.well-known/idempotency/status\"")
                    .contains("\"path\":\"/shop/payments\"");
            test.begin(TestBoundary.post("k-1"));
            HttpAnswer duplicate =
                    TestBoundary.decide(shop, TestBoundary.post("k-1")).answer();
            assertThat(duplicate.headers().first("Location"))
                    .contains("/shop/.well-known/idempotency/status?operation=POST%20%2Fpayments");
        }
    }
}
