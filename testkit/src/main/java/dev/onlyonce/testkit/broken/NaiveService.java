package dev.onlyonce.testkit.broken;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Payments with idempotency keys as they are often written in an afternoon. A map stands for the Redis or SQL server; each
 * access takes as long as a call over the network.
 */
public final class NaiveService implements AutoCloseable {
    private static final String RUNNING = "running";
    private static final long CALL_NANOS = Duration.ofMillis(2).toNanos();
    private static final long CHARGE_NANOS = Duration.ofMillis(100).toNanos();

    private final TinyServer server;
    private final Map<String, String> table = new ConcurrentHashMap<>();
    private final AtomicInteger charges = new AtomicInteger();

    @FunctionalInterface
    private interface Protection {
        TinyAnswer pay(NaiveService service, String key, String order);
    }

    private NaiveService(Protection protection) {
        server = TinyServer.start(request -> handle(protection, request));
    }

    /** {@code SET key running NX}, then the charge, then {@code SET key answer}. */
    public static NaiveService setnx() {
        return new NaiveService(NaiveService::payWithSetnx);
    }

    /** {@code SELECT answer WHERE key = ?}; if there is none, the charge, then {@code INSERT}. */
    public static NaiveService selectThenInsert() {
        return new NaiveService(NaiveService::payWithSelect);
    }

    /** Where it takes payments. */
    public URI url() {
        return server.url("/payments");
    }

    /** Where it says how many charges it has made, in the member {@code charges}. */
    public URI counter() {
        return server.url("/charges");
    }

    private TinyAnswer handle(Protection protection, TinyRequest request) throws IOException {
        String order = new String(request.body(), StandardCharsets.UTF_8);
        if (request.method().equals("GET")) {
            return TinyAnswer.of(200, "{\"charges\": " + charges + "}");
        }
        if (!request.method().equals("POST")) {
            return TinyAnswer.of(405, "{\"error\": \"only POST\"}");
        }
        String key = request.header("Idempotency-Key");
        return key == null ? TinyAnswer.of(201, charge(order)) : protection.pay(this, key, order);
    }

    private static TinyAnswer payWithSetnx(NaiveService service, String key, String order) {
        if (service.setIfAbsent(key, RUNNING) == null) {
            String receipt = service.charge(order);
            service.set(key, receipt);
            return TinyAnswer.of(201, receipt);
        }
        String stored = service.get(key);
        return RUNNING.equals(stored)
                ? TinyAnswer.of(409, "{\"error\": \"in progress\"}")
                : TinyAnswer.of(200, String.valueOf(stored));
    }

    private static TinyAnswer payWithSelect(NaiveService service, String key, String order) {
        String stored = service.get(key);
        if (stored != null) {
            return TinyAnswer.of(201, stored);
        }
        String receipt = service.charge(order);
        service.set(key, receipt);
        return TinyAnswer.of(201, receipt);
    }

    private String charge(String order) {
        LockSupport.parkNanos(CHARGE_NANOS);
        return "{\"id\": \"ch_" + charges.incrementAndGet() + "\", \"order\": " + order.strip() + "}";
    }

    private @Nullable String setIfAbsent(String key, String value) {
        LockSupport.parkNanos(CALL_NANOS);
        return table.putIfAbsent(key, value);
    }

    private void set(String key, String value) {
        LockSupport.parkNanos(CALL_NANOS);
        table.put(key, value);
    }

    private @Nullable String get(String key) {
        LockSupport.parkNanos(CALL_NANOS);
        return table.get(key);
    }

    @Override
    public void close() {
        server.close();
    }
}
