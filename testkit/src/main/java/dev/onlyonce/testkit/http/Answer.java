package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.check.wire.RawAnswer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What came back. */
record Answer(RawAnswer raw) {

    int status() {
        return raw.status();
    }

    byte[] body() {
        return raw.body();
    }

    String text() {
        return raw.text();
    }

    @Nullable
    String header(String name) {
        return raw.header(name);
    }

    List<String> headerLines(String name) {
        return raw.lines(name);
    }

    boolean isReplay() {
        return "true".equals(header("Idempotent-Replayed"));
    }

    /** A refusal as RFC 9457 has it, with when to come back where that is promised. */
    Answer assertProblem(int expectedStatus, String code) {
        assertThat(status()).as(text()).isEqualTo(expectedStatus);
        assertThat(header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(text())
                .contains("\"code\":\"" + code + "\"")
                .contains("\"status\":" + expectedStatus)
                .contains("#" + code + "\"");
        return assertComeBack();
    }

    /** A refusal in Stripe's shape. */
    Answer assertStripeError(int expectedStatus, String type, String code) {
        assertThat(status()).as(text()).isEqualTo(expectedStatus);
        assertThat(text())
                .startsWith("{\"error\":{")
                .contains("\"type\":\"" + type + "\"")
                .contains("\"code\":\"" + code + "\"");
        return assertComeBack();
    }

    private Answer assertComeBack() {
        if (status() == 409 || status() == 429 || status() == 503) {
            assertThat(header("Retry-After")).as("Retry-After").matches("[1-9][0-9]*");
        }
        return this;
    }

    /** Byte for byte the first answer: status, stored headers and body. */
    void assertReplayOf(Answer first) {
        assertThat(isReplay()).as("marked as a replay: " + this).isTrue();
        assertThat(first.isReplay()).as("the first answer is no replay").isFalse();
        assertThat(status()).isEqualTo(first.status());
        assertThat(body()).isEqualTo(first.body());
        for (String name : List.of("Content-Type", "Location", "X-Several", "Idempotency-Key-Expires")) {
            assertThat(headerLines(name)).as(name).isEqualTo(first.headerLines(name));
        }
    }

    @Override
    public String toString() {
        return raw.shown();
    }
}
