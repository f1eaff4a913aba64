package dev.onlyonce.http.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An answer to an operator")
class RepliesTest {
    private static AdminRequest request(String... headers) {
        return new AdminRequest(
                "GET", "/console", "/v1/keys", null, Headers.of(headers), new AdminRequest.Peer("::1", true, false));
    }

    private static HttpAnswer answer(String now, String key) {
        return Replies.json(200, new TreeMap<>(Map.of("key", key, "now", now, "state", "unknown")));
    }

    @Test
    @DisplayName("is sent once while nothing but the time has changed, and its header tells the time")
    void unchanged() {
        HttpAnswer first = Replies.tagged(request(), answer("2026-01-01T00:00:00Z", "a"));
        String tag = first.headers().first("ETag").orElseThrow();
        HttpAnswer again = Replies.tagged(request("If-None-Match", tag), answer("2026-01-01T00:00:05Z", "a"));
        assertThat(again.status()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        assertThat(again.headers().first("Onlyonce-Now")).hasValue("2026-01-01T00:00:05Z");
        assertThat(Replies.tagged(request("If-None-Match", tag), answer("2026-01-01T00:00:00Z", "b"))
                        .status())
                .isEqualTo(200);
    }

    @Test
    @DisplayName("O2 keeps its time and its tag apart from what is stored")
    void hostile() {
        String hostile = "\"now\":\"1970-01-01T00:00:00Z\r\nSet-Cookie: x=y\"";
        HttpAnswer first = Replies.tagged(request(), answer("2026-01-01T00:00:00Z", hostile));
        assertThat(first.headers().first("Onlyonce-Now")).hasValue("2026-01-01T00:00:00Z");
        HttpAnswer other = Replies.tagged(request(), answer("2026-01-01T00:00:00Z", hostile + "!"));
        assertThat(other.headers().first("ETag")).isNotEqualTo(first.headers().first("ETag"));
        HttpAnswer timeless = Replies.tagged(request(), Replies.json(200, Map.of("key", hostile)));
        assertThat(timeless.headers().has("Onlyonce-Now")).isFalse();
        assertThat(timeless.headers().has("ETag")).isTrue();
    }
}
