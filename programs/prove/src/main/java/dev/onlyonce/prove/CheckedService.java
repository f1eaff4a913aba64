package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A service that knows nothing of keys, and counts its effects by the name that each request has. It does what the request says. */
final class CheckedService implements AutoCloseable {
    static final String NAME = "Name";
    static final String ACT = "Act";
    /** Makes the effect, and answers when it is allowed to. */
    static final String HOLD = "hold";
    /** Answers 500, without an effect, the first time. */
    static final String FAIL_FIRST = "fail-first";

    private static final long HOLD_SECONDS_MAX = 30;
    private static final String STEP = "Step";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> reached = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> allowed = new ConcurrentHashMap<>();

    CheckedService() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::act);
        server.createContext("/seek", this::seek);
        server.createContext("/effect", this::step);
        server.createContext("/find", this::find);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** How many effects there were under a name. */
    int effects(String name) {
        return effects.getOrDefault(name, new AtomicInteger()).get();
    }

    /** Returns when a request under this name has made its effect and is held. */
    void awaitHeld(String name) throws InterruptedException {
        if (!latch(reached, name).await(HOLD_SECONDS_MAX, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no request came under the name " + name);
        }
    }

    /** Lets what is held under a name, and what comes later, answer. */
    void release(String name) {
        latch(allowed, name).countDown();
    }

    private static CountDownLatch latch(Map<String, CountDownLatch> latches, String name) {
        return latches.computeIfAbsent(name, n -> new CountDownLatch(1));
    }

    private void act(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        String name = header(exchange, NAME);
        String act = header(exchange, ACT);
        if (act.equals(FAIL_FIRST)
                && failures.computeIfAbsent(name, n -> new AtomicInteger()).getAndIncrement() == 0) {
            answer(exchange, 500, "\"out of order\"");
            return;
        }
        int number = made(name);
        if (act.equals(HOLD)) {
            hold(name);
        }
        answer(exchange, 200, shown(name, number));
    }

    private int made(String name) {
        return effects.computeIfAbsent(name, n -> new AtomicInteger()).incrementAndGet();
    }

    private void hold(String name) {
        latch(reached, name).countDown();
        try {
            latch(allowed, name).await(HOLD_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String shown(String name, int number) {
        return "{\"effect\":\"" + name + " " + number + "\"}";
    }

    private void seek(HttpExchange exchange) throws IOException {
        String query = exchange.getRequestURI().getQuery();
        String name = query.replaceAll(".*key=([^&]*).*", "$1");
        answer(exchange, 200, effects(name) == 0 ? "{}" : "{\"answer\":" + shown(name, effects(name)) + "}");
    }

    /** A step of an operation; the second one is held. */
    private void step(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        String name = stepName(header(exchange, NAME), header(exchange, STEP));
        int number = made(name);
        if (header(exchange, STEP).equals("two")) {
            hold(name);
        }
        answer(exchange, 200, name + "-" + number);
    }

    static String stepName(String name, String step) {
        return name + "-" + step;
    }

    private void find(HttpExchange exchange) throws IOException {
        String name = stepName(header(exchange, NAME), header(exchange, STEP));
        answer(exchange, effects(name) == 0 ? 404 : 200, name + "-" + effects(name));
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            boolean bare = exchange.getRequestMethod().equals("HEAD") || bytes.length == 0;
            exchange.sendResponseHeaders(status, bare ? -1 : bytes.length);
            if (!bare) {
                exchange.getResponseBody().write(bytes);
            }
        } catch (IOException e) {
            // Who asked has died.
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
