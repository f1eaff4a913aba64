package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.prove.Seen.Effect;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The outside world: a provider that executes whatever it is sent, and counts. It does not honour keys, except for queued work, so that every
 * second call shows. It drops answers, refuses before the effect, and is slow at times. It executes no call whose deadline is over: that is
 * what makes an absence certain.
 */
final class Ledger implements AutoCloseable {
    /** The path of the service behind gateways, and that of their look-ups. */
    static final String PROXIED = "pay";

    static final String SEEK = "seek";
    static final String TENANT = "Tenant";
    static final String WAY = "Way";
    static final String NAME = "Name";
    static final String STEP = "Step";
    static final String NODE = "Node";
    static final String DEADLINE = "Deadline-Nanos";

    private static final int DROPS_ONE_IN = 40;
    private static final int REFUSES_ONE_IN = 30;
    private static final int IS_SLOW_ONE_IN = 8;
    private static final int SLOW_MILLIS_MAX = 900;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final History history;
    private final Random random;
    private final Map<String, Effect> effects = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();

    Ledger(History history, long seed) throws IOException {
        this.history = history;
        this.random = new Random(seed);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/effect", this::effect);
        server.createContext("/find", this::find);
        server.createContext("/" + PROXIED, this::pay);
        server.createContext("/" + SEEK, this::seek);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    private void effect(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        if (oneIn(REFUSES_ONE_IN)) {
            answer(exchange, 503, "refused");
            return;
        }
        if (oneIn(IS_SLOW_ONE_IN)) {
            LockSupport.parkNanos(random.nextInt(SLOW_MILLIS_MAX) * 1_000_000L);
        }
        Work work = work(exchange);
        String step = header(exchange, STEP);
        String id;
        synchronized (this) {
            if (System.nanoTime() - Long.parseLong(header(exchange, DEADLINE)) >= 0) {
                answer(exchange, 410, "too late");
                return;
            }
            Effect known = effects.get(work + step);
            if (known != null && work.way() == Work.Way.QUEUED) {
                id = known.id();
            } else {
                id = "effect-" + count.incrementAndGet();
                Effect made = new Effect(work, step, body, id, header(exchange, NODE), System.nanoTime());
                effects.put(work + step, made);
                history.add(made);
            }
        }
        if (oneIn(DROPS_ONE_IN)) {
            exchange.close();
        } else {
            answer(exchange, 200, id);
        }
    }

    /** Executes what a gateway sends: whatever arrives, at any time. */
    private void pay(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        if (oneIn(IS_SLOW_ONE_IN)) {
            LockSupport.parkNanos(random.nextInt(SLOW_MILLIS_MAX) * 1_000_000L);
        }
        Work work = new Work(header(exchange, TENANT), Work.Way.PROXIED, header(exchange, NAME));
        String id = "effect-" + count.incrementAndGet();
        synchronized (this) {
            Effect made = new Effect(work, "", body, id, "a gateway", System.nanoTime());
            effects.put(work.toString(), made);
            history.add(made);
        }
        if (oneIn(DROPS_ONE_IN)) {
            exchange.close();
        } else {
            json(exchange, "\"" + id + "\"");
        }
    }

    /** What became of a key, for the look-ups of gateways. */
    private void seek(HttpExchange exchange) throws IOException {
        String query = exchange.getRequestURI().getQuery();
        Work work = new Work(
                query.replaceAll(".*tenant=([^&]*).*", "$1"),
                Work.Way.PROXIED,
                query.replaceAll(".*key=([^&]*).*", "$1"));
        json(exchange, find(work, "").map(id -> "{\"answer\":\"" + id + "\"}").orElse("{}"));
    }

    private static void json(HttpExchange exchange, String text) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        answer(exchange, 200, text);
    }

    private void find(HttpExchange exchange) throws IOException {
        Optional<String> id = find(work(exchange), header(exchange, STEP));
        answer(exchange, id.isPresent() ? 200 : 404, id.orElse("none"));
    }

    synchronized Optional<String> find(Work work, String step) {
        return Optional.ofNullable(effects.get(work + step)).map(Effect::id);
    }

    /** Reverses what was done until then. Whoever evicts a key so that it can be used again, does that. */
    synchronized void reverse(Work work, long until) {
        effects.values().removeIf(made -> made.isAbout(work) && made.begun() < until);
    }

    private synchronized boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    private static Work work(HttpExchange exchange) {
        return new Work(header(exchange, TENANT), Work.Way.valueOf(header(exchange, WAY)), header(exchange, NAME));
    }

    static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
