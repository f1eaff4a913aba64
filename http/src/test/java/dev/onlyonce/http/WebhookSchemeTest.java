package dev.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A webhook's signature")
class WebhookSchemeTest {
    private static final Instant NOW = Instant.ofEpochSecond(1_700_000_000);
    private static final byte[] BODY = bytes("{\"id\":\"evt_1\"}");
    private static final byte[] OTHER = bytes("{\"id\":\"evt_2\"}");
    private static final String NEW = "whsec_bmV3IHNlY3JldCBuZXcgc2VjcmV0";
    private static final String OLD = "whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0";

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Every scheme with a shared secret. */
    private static List<HmacScheme> schemes() {
        return schemes(NEW);
    }

    private static List<HmacScheme> schemes(String... secrets) {
        return List.of(
                WebhookScheme.stripe(secrets),
                WebhookScheme.standard(secrets),
                WebhookScheme.svix(secrets),
                WebhookScheme.github(secrets),
                slack(secrets));
    }

    /** Slack's, as anybody would describe it. */
    private static HmacScheme slack(String... secrets) {
        return HmacScheme.builder("X-Slack-Signature")
                .prefix("v0=")
                .timestampHeader("X-Slack-Request-Timestamp")
                .content("v0:{timestamp}:{body}")
                .id(WebhookId.json("/event_id"))
                .secrets(secrets)
                .build();
    }

    @Nested
    @DisplayName("agrees with the published example of")
    class Published {
        @Test
        @DisplayName("N6 Standard Webhooks")
        void standard() {
            HmacScheme scheme = WebhookScheme.standard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
            byte[] body = bytes("{\"test\": 2432232314}");
            Instant then = Instant.ofEpochSecond(1_614_265_330);
            Headers headers = Headers.of(
                    "webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                    "webhook-timestamp", "1614265330",
                    "webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
            assertThat(scheme.refusal(headers, body, then)).isEmpty();
            assertThat(scheme.id().of(headers, body)).contains("msg_p5jXN8AQM9LWM0D4loKWxJek");
            assertThat(scheme.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", body, then).toMap())
                    .isEqualTo(headers.toMap());
            // Without the prefix, as some senders show it.
            assertThat(WebhookScheme.standard("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
                            .refusal(headers, body, then))
                    .isEmpty();
            assertThat(scheme.refusal(headers.set("webhook-id", "msg_other"), body, then))
                    .contains("the signature does not match");
            assertThat(scheme.refusal(headers.set("webhook-timestamp", "1614265331"), body, then))
                    .contains("the signature does not match");
        }

        @Test
        @DisplayName("N6 GitHub")
        void github() {
            HmacScheme scheme = WebhookScheme.github("It's a Secret to Everybody");
            Headers headers = Headers.of(
                    "X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                    "X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958");
            byte[] body = bytes("Hello, World!");
            assertThat(scheme.refusal(headers, body, NOW)).isEmpty();
            assertThat(scheme.id().of(headers, body)).contains("72d3162e-cc78-11e3-81ab-4c9367dc0958");
            assertThat(scheme.refusal(headers, bytes("Hello, World?"), NOW)).contains("the signature does not match");
        }

        @Test
        @DisplayName("N6 Slack, described with the builder")
        void slack() {
            byte[] body = bytes(
                    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
                            + "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
                            + "&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J"
                            + "%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c");
            Headers headers = Headers.of(
                    "X-Slack-Request-Timestamp", "1531420618",
                    "X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503");
            assertThat(WebhookSchemeTest.slack("8f742231b10e8888abcd99yyyzzz85a5")
                            .refusal(headers, body, Instant.ofEpochSecond(1_531_420_618)))
                    .isEmpty();
        }

        @Test
        @DisplayName("N6 Stripe, in form, and with OpenSSL's digest")
        void stripe() {
            // printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac secret
            String digest = "af784f27423c462e20039559cd4264140f7b7ed4c9090e26fd663faa5eeb8dda";
            HmacScheme scheme = WebhookScheme.stripe("secret");
            assertThat(scheme.sign("", BODY, NOW).first("Stripe-Signature")).contains("t=1700000000,v1=" + digest);
            // As in Stripe's documentation: v0 is for others to check, and there may be a v1 for each secret.
            String zeros = "0".repeat(64);
            for (String header : List.of(
                    "t=1700000000,v1=" + digest + ",v0=" + zeros,
                    "v0=" + zeros + ",v1=" + zeros + ",v1=" + digest + ",t=1700000000",
                    "t=1700000000, v1=" + digest.toUpperCase(java.util.Locale.ROOT))) {
                assertThat(scheme.refusal(Headers.of("stripe-signature", header), BODY, NOW))
                        .as(header)
                        .isEmpty();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("schemes")
    @DisplayName("N6 is refused when it is missing, sent twice, by somebody else, or of another body")
    void forged(HmacScheme scheme) {
        Headers signed = scheme.sign("msg_1", BODY, NOW);
        assertThat(scheme.refusal(signed, BODY, NOW)).isEmpty();
        assertThat(scheme.refusal(signed, OTHER, NOW)).contains("the signature does not match");
        assertThat(scheme.refusal(signed, new byte[0], NOW)).contains("the signature does not match");
        HmacScheme guessed = scheme.toBuilder().secrets("guessed").build();
        assertThat(scheme.refusal(guessed.sign("msg_1", BODY, NOW), BODY, NOW))
                .contains("the signature does not match");
        for (Headers.Field field : signed.fields()) {
            assertThat(scheme.refusal(signed.only(other -> !other.equals(field)), BODY, NOW))
                    .contains("the header " + field.name() + " is missing");
            assertThat(scheme.refusal(signed.plus(field.name(), field.value()), BODY, NOW))
                    .contains("the header " + field.name() + " was sent more than once");
            // Proxies may join two lines into one.
            assertThat(scheme.refusal(signed.set(field.name(), field.value() + ", " + field.value()), BODY, NOW))
                    .isPresent();
        }
    }

    @ParameterizedTest
    @MethodSource("schemes")
    @DisplayName("W5 is refused when its time is off by more than the tolerance, either way; GitHub signs no time")
    void time(HmacScheme scheme) {
        boolean timed = !scheme.toString().contains("X-Hub");
        Headers signed = scheme.sign("msg_1", BODY, NOW);
        Duration most = HmacScheme.TOLERANCE;
        assertThat(scheme.refusal(signed, BODY, NOW.plus(most))).isEmpty();
        assertThat(scheme.refusal(signed, BODY, NOW.minus(most))).isEmpty();
        Optional<String> late = scheme.refusal(signed, BODY, NOW.plus(most).plusSeconds(1));
        Optional<String> early = scheme.refusal(signed, BODY, NOW.minus(most).minusSeconds(1));
        assertThat(late.isPresent()).isEqualTo(timed);
        assertThat(early.isPresent()).isEqualTo(timed);
        if (timed) {
            assertThat(late).contains("it was signed PT5M1S ago by this server's clock, and PT5M are allowed");
            assertThat(early)
                    .contains("it was signed PT5M1S in the future by this server's clock, and PT5M are allowed");
            HmacScheme patient =
                    scheme.toBuilder().tolerance(Duration.ofHours(1)).build();
            assertThat(patient.refusal(signed, BODY, NOW.plusSeconds(3600))).isEmpty();
        }
    }

    @Test
    @DisplayName("N6 is accepted under the old and the new secret while one is replaced, and not after")
    void rotation() {
        List<HmacScheme> before = schemes(OLD);
        List<HmacScheme> both = schemes(NEW, OLD);
        List<HmacScheme> after = schemes(NEW);
        for (int i = 0; i < both.size(); i++) {
            Headers old = before.get(i).sign("msg_1", BODY, NOW);
            Headers fresh = after.get(i).sign("msg_1", BODY, NOW);
            assertThat(both.get(i).refusal(old, BODY, NOW)).isEmpty();
            assertThat(both.get(i).refusal(fresh, BODY, NOW)).isEmpty();
            assertThat(after.get(i).refusal(old, BODY, NOW)).contains("the signature does not match");
            // A sender that has both signs with both where its header has room for two.
            Headers twice = both.get(i).sign("msg_1", BODY, NOW);
            assertThat(after.get(i).refusal(twice, BODY, NOW)).isEmpty();
            boolean room = i < 3;
            assertThat(before.get(i).refusal(twice, BODY, NOW).isEmpty()).isEqualTo(room);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                ",",
                "=",
                "t",
                "t=",
                "v1",
                "v1=",
                "sha256=",
                "v0=",
                "v1,",
                "v1, ",
                ",v1",
                "t=1,v1=00",
                "t=1700000000",
                "t=1700000000,v1=",
                "t=1700000000,v1=0",
                "t=1700000000,v1=zz",
                "t=1700000000,t=1700000000,v1=00",
                "t=-170000000,v1=00",
                "t=1e9,v1=00",
                "t=99999999999999999999,v1=00",
                "v1=00",
                "t=1700000000,v1=\u00e9\u00e9",
                "sha256=zz",
                "sha256=0",
                "sha1=00",
                "SHA256=00",
                "sha256=\u0660\u0661",
                "v1,===",
                "v1,a-_b",
                "v1,AAAA v1",
                "v1a,AAAA",
                "v1,AAAA,AAAA",
                "v1,\u0000",
                "null",
                "{}",
                "%s%n",
                "t=\u0661700000000,v1=00"
            })
    @DisplayName("N6 that is malformed is refused, whatever it is")
    void malformed(String value) {
        for (HmacScheme scheme : schemes()) {
            for (Headers.Field field : scheme.sign("msg_1", BODY, NOW).fields()) {
                Headers headers = scheme.sign("msg_1", BODY, NOW).set(field.name(), value);
                assertThat(scheme.refusal(headers, BODY, NOW))
                        .as(scheme + " " + headers)
                        .isPresent();
            }
        }
    }

    @Test
    @DisplayName("N6 that is cut, lengthened or in another encoding is refused")
    void wrongBytes() {
        byte[] digest = HexFormat.of().parseHex("af784f27423c462e20039559cd4264140f7b7ed4c9090e26fd663faa5eeb8dda");
        HmacScheme stripe = WebhookScheme.stripe("secret");
        String hex = HexFormat.of().formatHex(digest);
        String base64 = Base64.getEncoder().encodeToString(digest);
        for (String wrong : List.of(hex.substring(2), hex + "00", hex.substring(0, 2), base64, "0x" + hex)) {
            assertThat(stripe.refusal(Headers.of("Stripe-Signature", "t=1700000000,v1=" + wrong), BODY, NOW))
                    .as(wrong)
                    .isPresent();
        }
        HmacScheme inBase64 = HmacScheme.builder("X-Shop-Hmac")
                .encoding(HmacScheme.Encoding.BASE64)
                .secrets("secret")
                .build();
        Headers signed = inBase64.sign("", BODY, NOW);
        assertThat(inBase64.refusal(signed, BODY, NOW)).isEmpty();
        byte[] bytes = Base64.getDecoder().decode(signed.first("X-Shop-Hmac").orElseThrow());
        assertThat(inBase64.refusal(Headers.of("X-Shop-Hmac", HexFormat.of().formatHex(bytes)), BODY, NOW))
                .isPresent();
    }

    @Test
    @DisplayName("N6 of a megabyte, or with a thousand signatures, is refused at once")
    void huge() {
        for (HmacScheme scheme : schemes()) {
            Headers signed = scheme.sign("msg_1", BODY, NOW);
            for (Headers.Field field : signed.fields()) {
                assertThat(scheme.refusal(signed.set(field.name(), "1".repeat(1 << 20)), BODY, NOW))
                        .contains("the header " + field.name() + " is longer than 4096 characters");
            }
        }
        String one = "v1," + Base64.getEncoder().encodeToString(new byte[3]);
        Headers signed = WebhookScheme.standard(NEW).sign("msg_1", BODY, NOW);
        String good = signed.first("webhook-signature").orElseThrow();
        List<String> many = new ArrayList<>(Collections.nCopies(15, one));
        many.add(good);
        assertThat(WebhookScheme.standard(NEW)
                        .refusal(signed.set("webhook-signature", String.join(" ", many)), BODY, NOW))
                .isEmpty();
        many.add(0, one);
        assertThat(WebhookScheme.standard(NEW)
                        .refusal(signed.set("webhook-signature", String.join(" ", many)), BODY, NOW))
                .contains("the header webhook-signature is malformed");
    }

    @Test
    @DisplayName("N6 cannot be moved to another id and time: an id has no character that separates it")
    void ambiguous() {
        HmacScheme scheme = WebhookScheme.standard(NEW);
        // Both are signed as msg.1700000000.1700000000.{}.
        Headers honest = scheme.sign("msg", bytes("1700000000.{}"), NOW);
        assertThat(scheme.refusal(honest, bytes("1700000000.{}"), NOW)).isEmpty();
        Headers moved = honest.set("webhook-id", "msg.1700000000");
        assertThat(scheme.refusal(moved, bytes("{}"), NOW))
                .contains("the id has a character that separates it from what else is signed");
    }

    @Test
    @DisplayName(
            "needs a secret and a content that fits its headers, or nothing is built; messages and names show no secret")
    void builder() {
        String secret = "top secret";
        assertThatThrownBy(() -> WebhookScheme.stripe()).hasMessageContaining("need a secret");
        assertThatThrownBy(() -> WebhookScheme.github("good", " ")).hasMessageContaining("not empty");
        assertThatThrownBy(() -> WebhookScheme.standard("whsec_")).hasMessageContaining("not empty");
        assertThatThrownBy(() -> WebhookScheme.standard(secret))
                .hasMessage("a secret of webhook-signature is not Base64")
                .hasNoCause();
        HmacScheme.Builder custom = HmacScheme.builder("X-Sign").secrets(secret);
        assertThat(custom.build().toString()).doesNotContain(secret);
        assertThatThrownBy(() -> HmacScheme.builder("X-Sign").build()).hasMessageContaining("need a secret");
        assertThatThrownBy(() -> custom.content("{timestamp}.{body}").build()).hasMessageContaining("timestampHeader");
        assertThatThrownBy(
                        () -> custom.content("{body}").timestampHeader("X-Time").build())
                .hasMessageContaining("a time that is not signed proves nothing");
        assertThatThrownBy(() -> custom.content("{timestamp}").build())
                .hasMessageContaining("must contain {body} once");
        assertThatThrownBy(() -> custom.content("{timestamp}.{id}.{body}").build())
                .hasMessageContaining("idHeader");
        assertThatThrownBy(() -> custom.content("{timestamp}.{id}{body}")
                        .idHeader("X-Id")
                        .build())
                .hasMessageContaining("must separate {id}");
        assertThatThrownBy(() -> custom.content("{timestamp}.{id}.{body}")
                        .algorithm("HmacROT13")
                        .build())
                .hasMessageContaining("HmacROT13");
        assertThatThrownBy(() -> custom.tolerance(Duration.ZERO)).hasMessageContaining("positive");
    }

    @Test
    @DisplayName("with another algorithm is checked by that")
    void algorithm() {
        HmacScheme scheme = HmacScheme.builder("X-Sign")
                .algorithm("HmacSHA512")
                .secrets("secret")
                .build();
        Headers signed = scheme.sign("", BODY, NOW);
        assertThat(signed.first("X-Sign").orElseThrow()).hasSize(128);
        assertThat(scheme.refusal(signed, BODY, NOW)).isEmpty();
        assertThat(scheme.toBuilder().algorithm("HmacSHA256").build().refusal(signed, BODY, NOW))
                .isPresent();
    }
}
