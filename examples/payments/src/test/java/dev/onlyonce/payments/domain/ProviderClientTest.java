package dev.onlyonce.payments.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.payments.domain.ProviderClient.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProviderClientTest {
    private static final Payment PAYMENT =
            new Payment("pay_1", "alice", 1, "EUR", "", "tok_visa", "pending", null, null, "key", 0, 0);
    /** A status that is followed by a body that never comes. */
    private static final int STALLED = 201;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch ended = new CountDownLatch(1);
    private HttpServer server;
    private volatile int status;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(status, status <= STALLED ? 100 : -1);
                if (status <= STALLED) {
                    exchange.getResponseBody().flush();
                    ended.await();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
    }

    @AfterEach
    void stop() {
        ended.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private ProviderClient client(Duration timeout) {
        return new ProviderClient(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()), timeout);
    }

    private Reply charge(int status, Duration timeout) {
        this.status = status;
        return client(timeout).charge(PAYMENT, "key");
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 404, 410, 413, 415, 422})
    @DisplayName("D5 a status that says no to the request itself proves that nothing was made")
    void refused(int status) {
        assertThat(charge(status, Duration.ofSeconds(30))).isInstanceOf(Reply.Refused.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 408, 409, 423, 425, 429, 500, 502, 503, 504})
    @DisplayName("D4 a status that may hide a call with the same key that is still running proves nothing")
    void unclear(int status) {
        assertThat(charge(status, Duration.ofSeconds(30))).isInstanceOf(Reply.Unclear.class);
    }

    @Test
    @DisplayName("D4 an answer that stops in its body is given up after the timeout")
    void stalled() {
        Duration timeout = Duration.ofSeconds(2);
        // The first call of all takes long, and half of the timeout is for connecting.
        charge(500, Duration.ofSeconds(30));
        assertThat(charge(STALLED, timeout)).isInstanceOf(Reply.Unclear.class);
        status = 200;
        assertThatThrownBy(() -> client(timeout).made("charges", "key", "pay_1"))
                .isInstanceOf(ProviderClient.NoAnswer.class);
    }
}
