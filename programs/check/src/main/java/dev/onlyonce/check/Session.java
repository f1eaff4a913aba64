package dev.onlyonce.check;

import dev.onlyonce.check.wire.HeaderLine;
import dev.onlyonce.check.wire.Http2;
import dev.onlyonce.check.wire.RawAnswer;
import dev.onlyonce.check.wire.RawRequest;
import dev.onlyonce.check.wire.Wire;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Talks to the API. For one run. */
final class Session implements AutoCloseable {
    static final String KEY = "Idempotency-Key";

    private static final long PAUSE_NANOS = Duration.ofMillis(25).toNanos();

    /** Doubled each time: an API that is busy for long is not asked again and again. */
    private static final Duration PAUSE_FIRST = Duration.ofMillis(50);

    private final Plan plan;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "onlyonce-check");
        thread.setDaemon(true);
        return thread;
    });
    /** Each request may have an effect, on an API that knows no keys. */
    private final AtomicInteger left;

    private volatile boolean spent;
    private boolean quoted;
    private boolean distinguishable;
    private Duration lag = Duration.ZERO;
    private long accounted;

    Session(Plan plan) {
        this.plan = plan;
        this.left = new AtomicInteger(plan.requestsMax());
    }

    /** Whether a request was not sent because all that were allowed had been sent. */
    boolean isSpent() {
        return spent;
    }

    /** Takes one request from the budget; throws if it is used up. */
    private void take() throws IOException {
        if (left.getAndDecrement() <= 0) {
            spent = true;
            throw new IOException("not sent: all requests that are allowed have been sent");
        }
    }

    /** A connection for one request of the budget. */
    Wire open(RawRequest request) throws IOException {
        take();
        return Wire.open(request.url(), plan.patience());
    }

    /** One request of the budget over HTTP/2; null if the server speaks HTTP/1.1 only. */
    @Nullable
    RawAnswer send(Http2 http2, RawRequest request) throws IOException {
        take();
        return http2.send(request);
    }

    /** How long after an answer an effect was seen, at most. */
    Duration lag() {
        return lag;
    }

    /**
     * Waits until the API shows this many effects, for a time. Returns whether it does. An effect that the first look shows is not late,
     * however long the look takes: else each later count would wait twice as long as the slowest look took.
     */
    boolean awaitCount(long effects, Duration max) throws CannotCheck {
        long start = System.nanoTime();
        long look = start;
        while (count() < effects) {
            if (System.nanoTime() - start > max.toNanos()
                    || Thread.currentThread().isInterrupted()) {
                return false;
            }
            waitUntil(System.nanoTime() + Tally.PAUSE.toNanos());
            look = System.nanoTime();
        }
        Duration took = Duration.ofNanos(look - start);
        if (took.compareTo(lag) > 0) {
            lag = took;
        }
        return true;
    }

    /** Waits for effects that are seen late: twice as long as the latest of them took. */
    void awaitLateEffects() {
        if (lag.compareTo(Tally.PAUSE) > 0) {
            waitUntil(System.nanoTime() + lag.toNanos() * 2);
        }
    }

    /** Everything that the API has done until now is accounted for. */
    void account() throws CannotCheck {
        awaitLateEffects();
        accounted = count();
    }

    long accounted() {
        return accounted;
    }

    Plan plan() {
        return plan;
    }

    /** Whether keys go in quotation marks, because the API refuses bare ones. */
    void quoteKeys() {
        quoted = true;
    }

    boolean quotesKeys() {
        return quoted;
    }

    /** Whether answers to different effects differ. */
    void distinguishable(boolean differ) {
        distinguishable = differ;
    }

    boolean tellsEffectsApart() {
        return distinguishable;
    }

    static String newKey() {
        return UUID.randomUUID().toString();
    }

    /** The plan's request, without a key. */
    RawRequest bare() {
        return new RawRequest("POST", plan.url(), plan.headers(), plan.body().getBytes(StandardCharsets.UTF_8), false);
    }

    RawRequest request(String key) {
        return keyed(bare(), key);
    }

    RawRequest keyed(RawRequest request, String key) {
        return request.with(KEY, quoted ? "\"" + key + "\"" : key);
    }

    RawRequest varied(RawRequest request, Plan.Variation variation) {
        RawRequest moved = variation.url() == null ? request : request.url(variation.url());
        for (HeaderLine line : variation.headers()) {
            moved = moved.with(line.name(), line.value());
        }
        return variation.body() == null ? moved : moved.body(variation.body());
    }

    /** The answer; a request that comes too fast for the API (429) is sent again until patience is over. */
    RoundTrip send(RawRequest request) {
        return repeated(request, trip -> trip.status() == 429);
    }

    /** Retries until the answer is final, or patience is over. */
    RoundTrip settled(RawRequest request) {
        return repeated(request, trip -> trip.status() == 429 || trip.isRunning() || trip.status() == 503);
    }

    private RoundTrip repeated(RawRequest request, Predicate<RoundTrip> isPassing) {
        long deadline = System.nanoTime() + plan.patience().toNanos();
        Duration pause = PAUSE_FIRST;
        RoundTrip trip = sendOnce(request);
        while (isPassing.test(trip) && !Thread.currentThread().isInterrupted()) {
            Duration asked = trip.retryAfter();
            long next = System.nanoTime() + (asked.compareTo(pause) > 0 ? asked : pause).toNanos();
            if (next - deadline > 0) {
                break;
            }
            waitUntil(next);
            pause = pause.multipliedBy(2);
            trip = sendOnce(request);
        }
        return trip;
    }

    private RoundTrip sendOnce(RawRequest request) {
        try {
            if (!request.method().equals("GET")) {
                take();
            }
            return new RoundTrip(request, Wire.exchange(request, plan.patience()), "");
        } catch (IOException e) {
            return new RoundTrip(request, null, reason(e));
        }
    }

    CompletableFuture<RoundTrip> begin(RawRequest request) {
        return CompletableFuture.supplyAsync(() -> send(request), threads);
    }

    RoundTrip join(CompletableFuture<RoundTrip> begun) {
        return begun.join();
    }

    /** Whether it has an answer within this time. */
    static boolean isDone(CompletableFuture<?> begun, Duration max) {
        long deadline = System.nanoTime() + max.toNanos();
        while (!begun.isDone() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return begun.isDone();
    }

    /** Completes all requests at the same instant: each is sent but for its last byte before. */
    List<RoundTrip> atOnce(List<RawRequest> requests) {
        List<Wire> wires = new ArrayList<>();
        try {
            for (RawRequest request : requests) {
                Wire wire = open(request);
                wires.add(wire);
                wire.writeAllButLast(request);
            }
            for (int i = 0; i < wires.size(); i++) {
                wires.get(i).writeLast(requests.get(i));
            }
            List<CompletableFuture<RoundTrip>> begun = new ArrayList<>();
            for (int i = 0; i < wires.size(); i++) {
                Wire wire = wires.get(i);
                RawRequest request = requests.get(i);
                begun.add(CompletableFuture.supplyAsync(() -> answer(wire, request), threads));
            }
            return begun.stream().map(CompletableFuture::join).toList();
        } catch (IOException e) {
            return requests.stream()
                    .map(request -> new RoundTrip(request, null, reason(e)))
                    .toList();
        } finally {
            wires.forEach(Session::hangUp);
        }
    }

    RoundTrip answer(Wire wire, RawRequest request) {
        try {
            RawAnswer answer = wire.read(request.method());
            return new RoundTrip(request, answer, "");
        } catch (IOException e) {
            return new RoundTrip(request, null, reason(e));
        }
    }

    static void hangUp(Wire wire) {
        try {
            wire.close();
        } catch (IOException ignored) {
            // It is gone either way.
        }
    }

    static String reason(IOException e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    /** Waits until this moment of {@link System#nanoTime}. */
    static void waitUntil(long nanos) {
        while (System.nanoTime() - nanos < 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(Math.min(PAUSE_NANOS, Math.max(1, nanos - System.nanoTime())));
        }
    }

    Tally tally() throws CannotCheck {
        awaitLateEffects();
        return new Tally(this, plan.counter() != null || distinguishable, count());
    }

    /** How many effects the API has had; 0 if it does not tell. */
    long count() throws CannotCheck {
        EffectCounter counter = plan.counter();
        if (counter == null) {
            return 0;
        }
        // Credentials are for the API; its counter may be on somebody else's host.
        boolean same = plan.url().getRawAuthority().equals(counter.url().getRawAuthority());
        return counter.read(send(RawRequest.get(counter.url(), same ? plan.headers() : List.of())));
    }

    @Override
    public void close() {
        threads.shutdownNow();
        try {
            threads.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
