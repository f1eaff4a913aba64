package dev.onlyonce.check;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A session of the checker")
class SessionTest {
    @Test
    @DisplayName("takes an effect that the first look shows for one that is not late, and waits for late ones alone")
    void lag() throws Exception {
        assertThat(lag("1")).isZero();
        assertThat(lag("0", "0", "1")).isGreaterThanOrEqualTo(Tally.PAUSE.multipliedBy(2));
    }

    /** How late the effect is, if the counter answers this, one after the other. */
    private static Duration lag(String... counts) throws IOException, CannotCheck {
        Queue<String> answers = new ArrayDeque<>(List.of(counts));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = answers.remove().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        try (Session session = new Session(Plan.builder(URI.create(url), "{}")
                .counter(EffectCounter.parse(url + "/effects"))
                .build())) {
            assertThat(session.awaitCount(1, Duration.ofSeconds(30))).isTrue();
            return session.lag();
        } finally {
            server.stop(0);
        }
    }
}
