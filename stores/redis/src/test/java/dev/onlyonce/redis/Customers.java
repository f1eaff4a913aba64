package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Clients that ask until they are answered, and what their requests did. */
final class Customers implements AutoCloseable {
    private static final Fingerprint PRINT = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
    private static final Duration PAUSE = Duration.ofMillis(10);

    private final Onlyonce once;
    private final int keys;
    private final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final ExecutorService callers;
    private final AtomicInteger next = new AtomicInteger();
    private final List<Future<?>> done = new ArrayList<>();
    private volatile boolean over;

    /** Starts them; together they ask for this many keys, each key twice. */
    Customers(Onlyonce once, int callers, int keys) {
        this.once = once;
        this.keys = keys;
        this.callers = Executors.newFixedThreadPool(callers);
        for (int i = 0; i < callers; i++) {
            done.add(this.callers.submit(() -> {
                for (int n = next.getAndIncrement(); n < 2 * keys; n = next.getAndIncrement()) {
                    ask("key-" + n / 2);
                }
            }));
        }
    }

    private static Key key(String key) {
        return Key.of("acme", "POST /payments", key);
    }

    /** Asks until there is an answer; what ends as unknown is for the reconciler. */
    private void ask(String key) {
        boolean answered = false;
        while (!answered && !over) {
            try {
                Outcome<String> outcome = once.execute(key(key), PRINT, String.class, claim -> {
                    effects.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                    return "paid " + key;
                });
                answered = !(outcome instanceof Outcome.InFlight);
                if (outcome instanceof Outcome.Executed<String> || outcome instanceof Outcome.Replayed<String>) {
                    answers.put(key, outcome.orElseThrow());
                }
            } catch (StoreException e) {
                // Tried again, as a client does.
            }
            LockSupport.parkNanos(answered ? 0 : PAUSE.toNanos());
        }
    }

    /** Returns when this many have been asked for. */
    void awaitAsked(int keys) {
        while (next.get() < 2 * keys) {
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }

    boolean isBusy() {
        return next.get() < 2 * keys;
    }

    /** Returns when all are answered. */
    void awaitDone() throws Exception {
        for (Future<?> caller : done) {
            caller.get(2, TimeUnit.MINUTES);
        }
    }

    /** Nothing ran twice, and at least this many have their answer, which stays the same. */
    void check(int answeredAtLeast) {
        assertThat(answers.size()).as("answered").isGreaterThanOrEqualTo(answeredAtLeast);
        effects.forEach((key, count) -> assertThat(count.get()).as(key).isEqualTo(1));
        for (var answered : answers.entrySet()) {
            Outcome<String> again = Calls.untilTaken(() -> again(answered.getKey()));
            assertThat(again.orElseThrow()).isEqualTo(answered.getValue());
        }
    }

    private Outcome<String> again(String key) {
        Outcome<String> outcome = once.execute(key(key), PRINT, String.class, claim -> {
            throw new AssertionError(key + " runs again");
        });
        if (outcome instanceof Outcome.InFlight) {
            throw new StoreUnavailable("busy: a server of the cluster cannot be reached now", null);
        }
        return outcome;
    }

    @Override
    public void close() {
        over = true;
        callers.shutdownNow();
    }
}
