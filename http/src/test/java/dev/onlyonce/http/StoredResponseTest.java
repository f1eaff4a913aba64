package dev.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StoredResponseTest {
    /** Never change these: entries in people's stores look like this. */
    private static final String FORMAT_1 = "48" + "01" + "01" + "00c9" + "0002"
            + "000c" + "436f6e74656e742d54797065" + "0000000a" + "746578742f706c61696e"
            + "0006" + "582d4bc3a473" + "00000000"
            + "00ff0a";

    private static final String FORMAT_1_WITHOUT_BODY =
            "48" + "01" + "00" + "00c8" + "0001" + "0008" + "4c6f636174696f6e" + "00000002" + "2f31";

    @Test
    @DisplayName("R8 format 1 is what it was: bytes written by the first release are read, and written again alike")
    void golden() {
        byte[] bytes = HexFormat.of().parseHex(FORMAT_1);
        StoredResponse response = StoredResponse.decode(bytes).orElseThrow();
        assertThat(response.status()).isEqualTo(201);
        assertThat(response.headers()).isEqualTo(Headers.of("Content-Type", "text/plain", "X-Käs", ""));
        assertThat(response.body().orElseThrow()).containsExactly(0, 0xff, '\n');
        assertThat(response.encode()).isEqualTo(bytes);
    }

    @Test
    @DisplayName("R8 format 1 without a body is what it was")
    void goldenWithoutBody() {
        byte[] bytes = HexFormat.of().parseHex(FORMAT_1_WITHOUT_BODY);
        StoredResponse response = StoredResponse.decode(bytes).orElseThrow();
        assertThat(response).isEqualTo(new StoredResponse(200, Headers.of("Location", "/1"), Optional.empty()));
        assertThat(response.encode()).isEqualTo(bytes);
    }

    @Test
    @DisplayName("An empty body is a body, and differs from one that was not stored")
    void emptyBody() {
        byte[] encoded = StoredResponse.of(HttpAnswer.of(204, Headers.none())).encode();
        assertThat(StoredResponse.decode(encoded).orElseThrow().body().orElseThrow())
                .isEmpty();
    }

    @Test
    @DisplayName("R8 what another codec made is no response, a newer format is refused, and so is every damaged one")
    void notOurs() {
        assertThat(StoredResponse.decode("{\"id\":7}".getBytes(StandardCharsets.UTF_8)))
                .isEmpty();
        assertThat(StoredResponse.decode(new byte[0])).isEmpty();
        assertThatThrownBy(() -> StoredResponse.decode(new byte[] {'H', 2, 0}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("newer release");
        byte[] whole = HexFormat.of().parseHex(FORMAT_1_WITHOUT_BODY);
        for (int length = 2; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> StoredResponse.decode(cut)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisplayName("R4 what was said to one origin (CORS) is not stored, and of Vary only that part goes")
    void cors() {
        Headers headers = Headers.of(
                "Access-Control-Allow-Origin", "https://shop.example",
                "access-control-allow-credentials", "true",
                "Vary", "Origin, Accept, Access-Control-Request-Method",
                "Vary", "Origin",
                "Vary", "Accept-Language");
        assertThat(StoredHeaders.of(headers)).isEqualTo(Headers.of("Vary", "Accept", "Vary", "Accept-Language"));
    }

    @Test
    @DisplayName("R4 a session in a link is not stored, with the body or without")
    void session() {
        Headers headers = Headers.of("Location", "/orders/7;jsessionid=1A2B.node1?from=cart#top");
        Headers stored = Headers.of("Location", "/orders/7?from=cart#top");
        assertThat(StoredHeaders.of(headers)).isEqualTo(stored);
        assertThat(StoredResponse.withoutBody(303, headers).headers()).isEqualTo(stored);
    }
}
