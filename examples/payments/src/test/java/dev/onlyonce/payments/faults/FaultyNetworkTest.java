package dev.onlyonce.payments.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FaultyNetworkTest {
    private final AtomicInteger served = new AtomicInteger();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            served.incrementAndGet();
            byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    @DisplayName("Without faults requests and answers pass")
    void passes() throws Exception {
        try (FaultyNetwork network = FaultyNetwork.open(0, server.getAddress(), Chances.none(NetworkFault.class))) {
            for (int i = 0; i < 3; i++) {
                assertThat(post(network)).isEqualTo("hello");
            }
        }
        assertThat(served).hasValue(3);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A fault keeps the answer from the client; only RESET_REQUEST keeps the request from the server")
    void strikes(NetworkFault fault) throws Exception {
        Chances<NetworkFault> always = new Chances<>(NetworkFault.class, Map.of(fault, 1.0), 1);
        try (FaultyNetwork network = FaultyNetwork.open(0, server.getAddress(), always)) {
            assertThatThrownBy(() -> post(network)).isInstanceOf(IOException.class);
            assertThat(served).hasValue(fault == NetworkFault.RESET_REQUEST ? 0 : 1);
            assertThat(network.counts()).containsEntry(fault, 1L);
            network.faults(Chances.none(NetworkFault.class));
            assertThat(post(network)).isEqualTo("hello");
        }
    }

    @Test
    @DisplayName("The same seed makes the same faults")
    void seeded() {
        Chances<NetworkFault> one = new Chances<>(NetworkFault.class, Map.of(NetworkFault.DROP_ANSWER, 0.3), 42);
        Chances<NetworkFault> same = new Chances<>(NetworkFault.class, Map.of(NetworkFault.DROP_ANSWER, 0.3), 42);
        Chances<NetworkFault> other = new Chances<>(NetworkFault.class, Map.of(NetworkFault.DROP_ANSWER, 0.3), 43);
        int struck = 0;
        int different = 0;
        for (int i = 0; i < 1_000; i++) {
            boolean strikes = one.strikes(NetworkFault.DROP_ANSWER, "link 1", i);
            assertThat(same.strikes(NetworkFault.DROP_ANSWER, "link 1", i)).isEqualTo(strikes);
            struck += strikes ? 1 : 0;
            different += other.strikes(NetworkFault.DROP_ANSWER, "link 1", i) == strikes ? 0 : 1;
        }
        assertThat(struck).isBetween(220, 380);
        assertThat(different).isBetween(300, 540);
    }

    private static String post(FaultyNetwork network) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + network.port() + "/"))
                .timeout(Duration.ofSeconds(30))
                .POST(HttpRequest.BodyPublishers.ofString("hi"))
                .build();
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
