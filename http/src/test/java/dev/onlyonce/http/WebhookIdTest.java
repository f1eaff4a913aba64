package dev.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A webhook's id")
class WebhookIdTest {
    private static Optional<String> json(String body, Charset charset) {
        return WebhookId.json("/data/id").of(Headers.none(), body.getBytes(charset));
    }

    @Test
    @DisplayName("is a member of the body, a text or a whole number")
    void member() {
        assertThat(json("{\"id\":\"no\",\"data\":{\"id\":\"evt_1\"}}", StandardCharsets.UTF_8))
                .contains("evt_1");
        assertThat(json("{\"data\":{\"id\":9007199254740993}}", StandardCharsets.UTF_8))
                .contains("9007199254740993");
        assertThatThrownBy(() -> WebhookId.json("id")).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "x",
                "{",
                "[]",
                "null",
                "{}",
                "{\"data\":null}",
                "{\"data\":{\"id\":null}}",
                "{\"data\":{\"id\":1.5}}",
                "{\"data\":{\"id\":true}}",
                "{\"data\":{\"id\":{}}}",
                "{\"data\":{\"id\":\"a\"}} {}",
                "{\"data\":{\"id\":\"a\",\"id\":\"b\"}}",
                "{\"data\":{\"id\":\"a\"},\"data\":{\"id\":\"b\"}}"
            })
    @DisplayName("is missing from a body that is not JSON, has none, or has two")
    void none(String body) {
        assertThat(json(body, StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    @DisplayName("is not looked for in other encodings than UTF-8, nor in a body that is nested without end")
    void encodings() {
        String body = "{\"data\":{\"id\":\"evt_\u00e9\"}}";
        assertThat(json(body, StandardCharsets.UTF_8)).contains("evt_\u00e9");
        assertThat(json(body, StandardCharsets.UTF_16LE)).isEmpty();
        assertThat(json(body, StandardCharsets.ISO_8859_1)).isEmpty();
        assertThat(json("[".repeat(500_000), StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    @DisplayName("is the only line of a header, or the digest of the body")
    void others() {
        byte[] body = {1};
        assertThat(WebhookId.header("X-Id").of(Headers.of("x-id", "a"), body)).contains("a");
        assertThat(WebhookId.header("X-Id").of(Headers.of("x-id", "a", "X-ID", "a"), body))
                .isEmpty();
        assertThat(WebhookId.header("X-Id").of(Headers.none(), body)).isEmpty();
        // printf '\001' | sha256sum
        assertThat(WebhookId.bodyDigest().of(Headers.none(), body))
                .contains("sha256:4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a");
    }
}
