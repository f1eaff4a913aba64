package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.header;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A receiver of webhooks")
class WebhookReceiverTest {
    private static final HmacScheme STRIPE = WebhookScheme.stripe("secret");
    private static final String EVENT = "{\"id\":\"evt_1\",\"amount\":10,\"pending_webhooks\":2}";

    private final TestBoundary.StandingTime time = new TestBoundary.StandingTime();
    private final Onlyonce once =
            Onlyonce.builder(new MemoryStore(time)).time(time).build();
    private final List<Webhook> applied = new ArrayList<>();
    private final WebhookReceiver receiver = receiver(remembering());

    @AfterEach
    void close() {
        once.close();
    }

    private WebhookReceiver receiver(WebhookHandler handler) {
        return WebhookReceiver.builder(once, "stripe", STRIPE)
                .bodyBytesMax(1000)
                .build(handler);
    }

    /** As an inbox does, without a database. */
    private WebhookHandler remembering() {
        Map<String, Fingerprint> known = new HashMap<>();
        return webhook -> {
            Fingerprint first = known.putIfAbsent(webhook.source() + " " + webhook.id(), webhook.content());
            if (first != null && !first.matches(webhook.content())) {
                throw new OutcomeException("other", new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST));
            }
            return first == null && applied.add(webhook);
        };
    }

    private HttpAnswer send(WebhookReceiver to, String event) {
        byte[] body = event.getBytes(StandardCharsets.UTF_8);
        return to.receive(STRIPE.sign("", body, time.now()).plus("Content-Type", "application/json"), body);
    }

    @Test
    @DisplayName("N6 answers 204 to the first delivery and to every other, and applies the first")
    void once() {
        HttpAnswer first = send(receiver, EVENT);
        time.pass(Duration.ofMinutes(20));
        HttpAnswer second = send(receiver, EVENT);
        assertThat(first.status()).isEqualTo(204);
        assertThat(header(first, "Idempotent-Replayed")).isNull();
        assertThat(second.status()).isEqualTo(204);
        assertThat(header(second, "Idempotent-Replayed")).isEqualTo("true");
        assertThat(applied).singleElement().satisfies(webhook -> {
            assertThat(webhook.source()).isEqualTo("stripe");
            assertThat(webhook.id()).isEqualTo("evt_1");
            assertThat(webhook.text()).isEqualTo(EVENT);
            assertThat(webhook.toString()).doesNotContain("evt_1").doesNotContain("amount");
        });
    }

    @Test
    @DisplayName("N6 refuses other content under a known id with 422, however genuine it is")
    void changed() {
        send(receiver, EVENT);
        assertProblem(send(receiver, EVENT.replace("10", "1000")), 422, Problem.MESSAGE_CHANGED);
        assertThat(applied).hasSize(1);
    }

    @Test
    @DisplayName("N6 takes a delivery that differs in spelling, or in what the sender changes each time, for the same")
    void spelling() {
        send(receiver, EVENT);
        assertThat(send(receiver, "{\"pending_webhooks\": 0, \"amount\":1.0e1,\n\"id\":\"evt_1\"}")
                        .status())
                .isEqualTo(204);
        WebhookReceiver lenient = WebhookReceiver.builder(once, "stripe", STRIPE)
                .ignore("/attempt")
                .build(remembering());
        send(lenient, "{\"id\":\"evt_2\",\"attempt\":1,\"pending_webhooks\":1}");
        assertThat(send(lenient, "{\"id\":\"evt_2\",\"attempt\":2,\"pending_webhooks\":0}")
                        .status())
                .isEqualTo(204);
        assertThat(applied).hasSize(2);
    }

    @Test
    @DisplayName("N6 takes a delivery whose unsigned headers were changed for the same")
    void headers() {
        byte[] body = EVENT.getBytes(StandardCharsets.UTF_8);
        Headers signed = STRIPE.sign("", body, time.now());
        assertThat(receiver.receive(signed.plus("Content-Type", "text/plain"), body)
                        .status())
                .isEqualTo(204);
        assertThat(receiver.receive(signed.plus("Content-Type", "application/json"), body)
                        .status())
                .isEqualTo(204);
        assertThat(receiver.receive(signed.plus("Content-Encoding", "gzip"), body)
                        .status())
                .isEqualTo(204);
        assertThat(receiver.receive(signed, body).status()).isEqualTo(204);
        assertThat(applied).hasSize(1);
    }

    @Test
    @DisplayName("compares what is not JSON byte by byte")
    void notJson() {
        WebhookReceiver byDigest = WebhookReceiver.builder(once, "stripe", STRIPE)
                .id((headers, body) -> java.util.Optional.of("evt_1"))
                .bodyBytesMax(3 << 20)
                .build(remembering());
        String large = "x".repeat(2 << 20);
        assertThat(send(byDigest, large).status()).isEqualTo(204);
        assertThat(send(byDigest, large).status()).isEqualTo(204);
        assertProblem(send(byDigest, large + "y"), 422, Problem.MESSAGE_CHANGED);
    }

    @Test
    @DisplayName("N6 refuses what is not signed, not now, or not by the sender with 401, before anything reads it")
    void forged() {
        byte[] body = EVENT.getBytes(StandardCharsets.UTF_8);
        Headers signed = STRIPE.sign("", body, time.now());
        assertProblem(receiver.receive(Headers.none(), body), 401, Problem.SIGNATURE_INVALID);
        assertProblem(
                receiver.receive(signed, "{\"id\":\"evt_2\"}".getBytes(StandardCharsets.UTF_8)),
                401,
                Problem.SIGNATURE_INVALID);
        assertProblem(receiver.receive(signed, new byte[0]), 401, Problem.SIGNATURE_INVALID);
        time.pass(HmacScheme.TOLERANCE.plusSeconds(2));
        assertProblem(receiver.receive(signed, body), 401, Problem.SIGNATURE_INVALID);
        assertThat(applied).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "not json",
                "{}",
                "{\"id\":\"\"}",
                "{\"id\":\"two words\"}",
                "{\"id\":\"line\\nbreak\"}",
                "{\"id\":\"\u00e9vt\"}",
                "{\"id\":\"a\",\"id\":\"b\"}",
                "{\"id\":[\"a\"]}"
            })
    @DisplayName("refuses a signed webhook without an id that can be remembered with 400")
    void noId(String event) {
        assertProblem(send(receiver, event), 400, Problem.MESSAGE_ID_INVALID);
        assertThat(applied).isEmpty();
    }

    @Test
    @DisplayName("refuses an id of 10,000 characters with 400 and a body over the limit with 413")
    void tooLong() {
        WebhookReceiver large = WebhookReceiver.builder(once, "stripe", STRIPE).build(remembering());
        assertProblem(send(large, "{\"id\":\"" + "x".repeat(10_000) + "\"}"), 400, Problem.MESSAGE_ID_INVALID);
        assertProblem(send(receiver, EVENT + " ".repeat(1000)), 413, Problem.BODY_TOO_LARGE);
        assertThat(applied).isEmpty();
    }

    @Test
    @DisplayName("N6 asks for another delivery when the handler or the store fails, and never says that it was applied")
    void fails() {
        assertProblem(failing(new IOException("secret detail")), 500, Problem.HANDLER_FAILED);
        assertProblem(failing(new IllegalStateException("secret detail")), 500, Problem.HANDLER_FAILED);
        assertProblem(failing(new StoreUnavailable("down", null)), 503, Problem.STORE_UNAVAILABLE);
        assertProblem(failing(new StoreBusy("busy", null)), 503, Problem.STORE_UNAVAILABLE);
        assertProblem(failing(new StoreOutcomeUnknown("lost", null)), 503, Problem.NOT_RECORDED);
        assertProblem(
                failing(new OutcomeException("?", new Outcome.Unknown<>(Duration.ZERO))), 500, Problem.HANDLER_FAILED);
        assertProblem(failing(new WebhookRejected("the event has no type")), 400, Problem.REQUEST_MALFORMED);
        HttpAnswer failed = failing(new IOException("secret detail"));
        assertThat(header(failed, "Retry-After")).isEqualTo("1");
        assertThat(new String(failed.body(), StandardCharsets.UTF_8)).doesNotContain("secret detail");
    }

    @Test
    @DisplayName("keeps an interrupt for those who asked for it")
    void interrupted() {
        assertProblem(failing(new InterruptedException()), 500, Problem.HANDLER_FAILED);
        assertThat(Thread.interrupted()).isTrue();
    }

    private HttpAnswer failing(Exception failure) {
        WebhookReceiver failing = receiver(webhook -> {
            throw failure;
        });
        return send(failing, EVENT);
    }

    @Test
    @DisplayName("is not built without a source, with a limit that is none, or with a pointer that is none")
    void builder() {
        assertThatThrownBy(() -> WebhookReceiver.builder(once, "", STRIPE)).hasMessageContaining("source");
        WebhookReceiver.Builder builder = WebhookReceiver.builder(once, "stripe", STRIPE);
        assertThatThrownBy(() -> builder.bodyBytesMax(0)).hasMessageContaining("bodyBytesMax");
        assertThatThrownBy(() -> builder.ignore("no pointer").build(remembering()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("N6 is not built if ids are forgotten while a recorded webhook would still be accepted")
    void forgetful() {
        assertThatThrownBy(() -> remembering(Duration.ofMinutes(9), STRIPE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT9M")
                .hasMessageContaining("PT5M");
        remembering(Duration.ofMinutes(10), STRIPE);
        // Its signatures never get too old, whatever is remembered.
        remembering(Duration.ofMinutes(9), WebhookScheme.github("secret"));
        HmacScheme patient =
                STRIPE.toBuilder().tolerance(Duration.ofSeconds(Long.MAX_VALUE)).build();
        assertThatThrownBy(() -> remembering(Duration.ofDays(30), patient)).hasMessageContaining("tolerance");
    }

    private void remembering(Duration retention, WebhookScheme scheme) {
        Policy policy = Policy.standard().toBuilder().retention(retention).build();
        try (Onlyonce forgetful = Onlyonce.builder(new MemoryStore(time))
                .time(time)
                .operation("inbox", policy)
                .build()) {
            WebhookReceiver.builder(forgetful, "stripe", scheme).build(remembering());
        }
    }
}
