package dev.onlyonce.server;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The application of the HTTP conformance suite, without any protection of its own. */
final class ConformanceUpstream implements GatewayConformance.Service {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();

    ConformanceUpstream() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    @Override
    public URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String[] path = exchange.getRequestURI().getPath().split("/");
            if (path[1].equals("effects")) {
                text(exchange, 200, String.valueOf(counts.getOrDefault(path[2], new AtomicInteger())));
            } else if (path[1].equals("gates")) {
                gate(path[2]).countDown();
                exchange.sendResponseHeaders(204, -1);
            } else {
                run(exchange, path, body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(HttpExchange exchange, String[] path, byte[] body) throws IOException, InterruptedException {
        String effect = exchange.getRequestHeaders().getFirst("X-Effect");
        int run = counts.computeIfAbsent(effect, any -> new AtomicInteger()).incrementAndGet();
        switch (path[2]) {
            case "echo", "other" -> echo(exchange, run, body);
            case "form" -> {
                Map<String, String> form = form(body);
                text(exchange, 200, form.get("a") + "," + form.get("b"));
            }
            case "status" -> text(exchange, run == 1 ? Integer.parseInt(path[3]) : 201, "run " + run);
            case "gate" -> {
                gate(effect).await();
                text(exchange, 201, "done");
            }
            case "large" -> {
                exchange.getResponseHeaders().set("Location", "/things/1");
                text(exchange, 200, "x".repeat(2 << 20));
            }
            default -> text(exchange, 404, "no such path");
        }
    }

    private CountDownLatch gate(String id) {
        return gates.computeIfAbsent(id, any -> new CountDownLatch(1));
    }

    private static void echo(HttpExchange exchange, int run, byte[] body) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Location", "/things/1");
        headers.put("X-Several", List.of("one", "two"));
        headers.set("Set-Cookie", "session=secret");
        headers.set("traceparent", "00-1");
        String received = Base64.getEncoder().encodeToString(body);
        answer(exchange, 201, "application/json", "{\"run\":" + run + ",\"received\":\"" + received + "\"}");
    }

    private static Map<String, String> form(byte[] body) {
        Map<String, String> values = new HashMap<>();
        for (String pair : new String(body, StandardCharsets.UTF_8).split("&")) {
            String[] parts = pair.split("=", 2);
            values.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return values;
    }

    private static void text(HttpExchange exchange, int status, String text) throws IOException {
        answer(exchange, status, "text/plain;charset=UTF-8", text);
    }

    private static void answer(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        boolean head = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, head ? -1 : bytes.length);
        if (!head) {
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        gates.values().forEach(CountDownLatch::countDown);
        server.stop(0);
        threads.shutdownNow();
    }
}
