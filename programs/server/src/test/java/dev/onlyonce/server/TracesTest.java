package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Traces")
class TracesTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00-" + TRACE + "-00f067aa0ba902b7-01";

    @TempDir
    Path folder;

    @Test
    @DisplayName("are passed on as they came when they go nowhere")
    void passedOn() throws Exception {
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), "")) {
            gateway.send(gateway.request("/payments", "k1")
                    .header("traceparent", PARENT)
                    .header("tracestate", "a=b")
                    .POST(HttpRequest.BodyPublishers.ofString("{}")));
            assertThat(upstream.header("traceparent")).isEqualTo(PARENT);
            assertThat(upstream.header("tracestate")).isEqualTo("a=b");
        }
    }

    @Test
    @DisplayName("go to a collector: claim, upstream and settle, inside the client's trace")
    void exported() throws Exception {
        List<String> received = new CopyOnWriteArrayList<>();
        var collector = com.sun.net.httpserver.HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        collector.createContext("/v1/traces", exchange -> {
            received.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        String endpoint = "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/traces";
        try (CountingUpstream upstream = new CountingUpstream()) {
            try (Running gateway =
                    Running.start(folder, upstream.url(), "observe: {otlp-endpoint: '" + endpoint + "'}")) {
                gateway.send(gateway.request("/payments", "k1")
                        .header("traceparent", PARENT)
                        .POST(HttpRequest.BodyPublishers.ofString("{}")));
                assertThat(upstream.header("traceparent")).contains(TRACE).isNotEqualTo(PARENT);
            }
            String all = String.join("", received);
            assertThat(all).contains("claim").contains("upstream").contains("settle");
            assertThat(all).contains("POST /**");
        } finally {
            collector.stop(0);
        }
    }
}
