package dev.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A webhook's signature")
class WebhookSignatureTest {
    private static final Instant NOW = Instant.ofEpochSecond(1_700_000_000);
    private static final byte[] BODY = "{\"id\":\"evt_1\"}".getBytes(StandardCharsets.UTF_8);

    private final WebhookSignature signature = new WebhookSignature("secret");

    @Test
    @DisplayName("is what anybody with the secret computes")
    void form() {
        // printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac secret
        assertThat(signature.sign(BODY, NOW))
                .isEqualTo("t=1700000000,v1=af784f27423c462e20039559cd4264140f7b7ed4c9090e26fd663faa5eeb8dda");
        assertThat(signature.refusal(signature.sign(BODY, NOW), BODY, NOW)).isEmpty();
    }

    @Test
    @DisplayName("W5 is refused when it is missing, malformed, by somebody else, or of another body or time")
    void forged() {
        String signed = signature.sign(BODY, NOW);
        byte[] other = "{\"id\":\"evt_2\"}".getBytes(StandardCharsets.UTF_8);

        assertThat(signature.refusal(null, BODY, NOW)).hasValue("the signature is missing");
        assertThat(signature.refusal("t=1,v1=00", BODY, NOW)).hasValue("the signature is malformed");
        assertThat(signature.refusal(new WebhookSignature("guessed").sign(BODY, NOW), BODY, NOW))
                .hasValue("the signature does not match");
        assertThat(signature.refusal(signed, other, NOW)).hasValue("the signature does not match");
        assertThat(signature.refusal(signed.replace("t=17", "t=18"), BODY, NOW))
                .hasValue("the signature does not match");
    }

    @Test
    @DisplayName("W5 is refused when its time is off by more than the tolerance, either way")
    void old() {
        String signed = signature.sign(BODY, NOW);
        Duration most = WebhookSignature.TOLERANCE;

        assertThat(signature.refusal(signed, BODY, NOW.plus(most))).isEmpty();
        assertThat(signature.refusal(signed, BODY, NOW.minus(most))).isEmpty();
        assertThat(signature.refusal(signed, BODY, NOW.plus(most).plusSeconds(1)))
                .hasValueSatisfying(why -> assertThat(why).contains("PT5M"));
        assertThat(signature.refusal(signed, BODY, NOW.minus(most).minusSeconds(1)))
                .isPresent();
    }
}
