package dev.onlyonce.benchmarks;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Answers from the cache, on one thread. */
final class Replay {
    private static final int KEYS = 10_000;

    private final Options options;
    private final Report report;

    Replay(Options options, Report report) {
        this.options = options;
        this.report = report;
    }

    void run() {
        report.title("Replay from the cache, one thread, " + KEYS + " keys");
        report.header("replays/s", "store calls");
        AtomicLong calls = new AtomicLong();
        try (Time time = Time.system();
                Store store = counting(new MemoryStore(time), calls);
                Onlyonce once = Onlyonce.builder(store).build()) {
            List<String> keys = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                keys.add(Work.newKey());
            }
            // Executes, then reads from the store once.
            replay(once, keys);
            replay(once, keys);
            double best = 0;
            calls.set(0);
            for (int round = 0; round <= options.rounds(); round++) {
                best = Math.max(best, round(once, keys));
            }
            report.line("| **%.0f** | %d |", best, calls.get());
        }
    }

    private double round(Onlyonce once, List<String> keys) {
        long begun = System.nanoTime();
        long count = 0;
        do {
            if (replay(once, keys) != KEYS) {
                throw new IllegalStateException("an answer was not a replay");
            }
            count += KEYS;
        } while (System.nanoTime() - begun < options.round().toNanos());
        return count * 1e9 / (System.nanoTime() - begun);
    }

    private static int replay(Onlyonce once, List<String> keys) {
        int replayed = 0;
        for (String key : keys) {
            Outcome<byte[]> outcome = once.execute(
                    Key.of(Work.TENANT, Work.OPERATION, key),
                    Work.FINGERPRINT,
                    Codec.bytes(),
                    claim -> Work.response());
            replayed += outcome instanceof Outcome.Replayed ? 1 : 0;
        }
        return replayed;
    }

    /** Counts what a caller may cause; the background's calls are not a replay's. */
    private static Store counting(Store store, AtomicLong calls) {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, args) -> {
                    if (List.of("claim", "settle", "find").contains(method.getName())) {
                        calls.incrementAndGet();
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
