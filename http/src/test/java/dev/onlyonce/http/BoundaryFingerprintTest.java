package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.asking;
import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.json;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.store.EntryQuery;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is compared to tell whether a request is the same one, and which bodies cannot be. */
class BoundaryFingerprintTest {

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
            HttpAnswer large = test.send(post("/payments", "k-1", " ".repeat(101)));
            assertProblem(large, 413, Problem.BODY_TOO_LARGE);
            assertThat(json(large).path("detail").asText())
                    .as("callers may stop reading at the limit, so nobody knows the size")
                    .isEqualTo("the limit is 100 bytes");
            assertThat(test.store.list(EntryQuery.all(1))).isEmpty();
        }
    }

    @Test
    @DisplayName("the entry keeps method and path for operators, without what may be secret, cut and made visible")
    void target() {
        try (TestBoundary test =
                TestBoundary.of(Operation.builder("POST", "/**").build())) {
            String unseen = "/a\0b\u001b[31m\u202e/" + "\ud83d\ude00".repeat(200);
            Map<String, String> targets = Map.of(
                    "/v1/charges/ch_1/refund",
                    "POST /v1/charges/ch_1/refund",
                    "/v1/charges;jsessionid=secret/ch_1;a=b;c",
                    "POST /v1/charges/ch_1",
                    "/%00%1b%5B31m%0a",
                    "POST /%00%1b%5B31m%0a",
                    "/" + "x".repeat(10_000),
                    "POST /" + "x".repeat(503) + "…",
                    unseen,
                    "POST /a�b�[31m�/" + "\ud83d\ude00".repeat(121) + "…");
            targets.forEach((path, target) -> {
                String key = "k-" + path.hashCode();
                Headers headers = Headers.of("Idempotency-Key", key);
                HttpRequest request = new HttpRequest("POST", path, "token=secret", headers, new byte[0], "acme");
                assertThat(test.send(request).status()).isEqualTo(201);
                assertThat(test.send(request).headers().has("Idempotent-Replayed"))
                        .isTrue();
                assertThat(test.once
                                .find(Key.of("acme", "POST /**", key))
                                .orElseThrow()
                                .fingerprint()
                                .target())
                        .isEqualTo(target);
            });
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
}
