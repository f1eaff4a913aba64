package dev.onlyonce.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A service that counts the effects of each key. What it answers is in the path: {@code /status/503}, {@code /bytes/1000}. */
final class CountingUpstream implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
    private final Map<String, String> lastHeaders = new ConcurrentHashMap<>();
    private final CountDownLatch held = new CountDownLatch(1);
    private final Semaphore arrived = new Semaphore(0);

    CountingUpstream() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** The effects of all keys. */
    int effects() {
        return effects.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    int effects(String key) {
        AtomicInteger count = effects.get(key);
        return count == null ? 0 : count.get();
    }

    /** The value of a header of the last request. */
    String header(String name) {
        return lastHeaders.getOrDefault(name.toLowerCase(Locale.ROOT), "");
    }

    /** Returns when a request to {@code /held} has come. */
    void awaitHeld() throws InterruptedException {
        awaitHeld(1);
    }

    /** Returns when so many have come. */
    void awaitHeld(int requests) throws InterruptedException {
        arrived.acquire(requests);
        arrived.release(requests);
    }

    /** Lets requests to {@code /held} go on. */
    void release() {
        held.countDown();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> lastHeaders.put(name.toLowerCase(Locale.ROOT), values.get(0)));
            String path = exchange.getRequestURI().getPath();
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            if (path.equals("/held")) {
                arrived.release();
                held.await();
            }
            int effect = key == null || exchange.getRequestMethod().equals("GET")
                    ? 0
                    : effects.computeIfAbsent(key, it -> new AtomicInteger()).incrementAndGet();
            if (path.startsWith("/lookup/")) {
                int seen = effects(path.substring("/lookup/".length()));
                answer(exchange, seen == 0 ? 404 : 200, "{\"data\":{\"effects\":" + seen + "}}");
            } else if (path.startsWith("/status/")) {
                answer(exchange, Integer.parseInt(path.substring("/status/".length())), "{\"effect\":" + effect + "}");
            } else if (path.startsWith("/bytes/")) {
                exchange.getResponseHeaders().set("Location", "/things/7");
                answer(exchange, 201, "x".repeat(Integer.parseInt(path.substring("/bytes/".length()))));
            } else {
                exchange.getResponseHeaders().set("Set-Cookie", "a=b");
                answer(exchange, 201, "{\"effect\":" + effect + ",\"bytes\":" + body.length + "}");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        boolean none = status == 204 || exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, none ? -1 : bytes.length == 0 ? -1 : bytes.length);
        if (!none && bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        release();
        server.stop(0);
        threads.shutdownNow();
    }
}
