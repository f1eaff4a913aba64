package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.http.admin.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The JSON of the admin API")
class JsonTest {
    private static final byte[] MORE = "{\"key\": \"k\", \"colour\": \"red\"}".getBytes(StandardCharsets.UTF_8);

    record Named(String key) {}

    @Test
    @DisplayName("may say more in an answer than this release knows: a newer gateway wrote it")
    void newerGateway() {
        assertThat(Json.readAnswer(MORE, Named.class)).isEqualTo(new Named("k"));
    }

    @Test
    @DisplayName("is refused in a request that says more than this release knows: it may be a misspelt reason")
    void strictRequest() {
        assertThatThrownBy(() -> Json.read(MORE, Named.class)).hasMessageContaining("there is no member colour");
    }
}
