package dev.onlyonce.payments;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands before the provider and holds refunds: of one amount before the provider sees them, of another before its answer. It can
 * also answer in the provider's place.
 */
final class HoldingProvider implements AutoCloseable {
    static final long HELD_BEFORE = 901;
    static final long HELD_AFTER = 902;

    private final HttpClient client = HttpClient.newHttpClient();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger held = new AtomicInteger();
    private final HttpServer server;
    private final URI provider;
    private final Map<String, Integer> instead = new ConcurrentHashMap<>();
    private volatile CountDownLatch release = new CountDownLatch(1);

    HoldingProvider(URI provider) throws IOException {
        this.provider = provider;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** How many calls are held. */
    int held() {
        return held.get();
    }

    /** Lets go what is held: what was held before now arrives, late. From now on nothing is held. */
    void release() {
        release.countDown();
    }

    /** Holds again. */
    void hold() {
        held.set(0);
        release = new CountDownLatch(1);
    }

    /** Where it listens. */
    URI url() {
        return URI.create("http://127.0.0.1:" + port());
    }

    /** From now on answers such calls, e.g. {@code POST /refunds}, with this status and does not pass them on; 0 ends that. */
    void answerInstead(String call, int status) {
        instead.put(call, status);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String call =
                    exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath();
            int status = instead.getOrDefault(call, 0);
            if (status != 0) {
                exchange.sendResponseHeaders(status, -1);
                return;
            }
            String text = new String(body, StandardCharsets.UTF_8);
            CountDownLatch gate = release;
            hold(text, HELD_BEFORE, gate);
            HttpResponse<byte[]> answer = client.send(
                    HttpRequest.newBuilder(provider.resolve(exchange.getRequestURI()))
                            .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body))
                            .header("Idempotency-Key", key(exchange))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
            hold(text, HELD_AFTER, gate);
            exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
            exchange.getResponseBody().write(answer.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String key(HttpExchange exchange) {
        String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        return key == null ? "none" : key;
    }

    private void hold(String body, long amount, CountDownLatch gate) throws InterruptedException {
        if (body.contains("\"amount\":" + amount + ",") && gate.getCount() > 0) {
            held.incrementAndGet();
            gate.await();
        }
    }

    @Override
    public void close() {
        release();
        server.stop(0);
        threads.shutdownNow();
    }
}
