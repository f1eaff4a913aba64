package dev.onlyonce.cassandra;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.testkit.EffectFile;
import dev.onlyonce.testkit.KillStorm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A process of the storm: its threads execute every key, each in an order of its own, until all are decided. */
final class StormNode {
    static final int KEYS = 120;
    static final int THREADS = 4;
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    private StormNode() {}

    /** Takes the URL, the file of effects and a seed. */
    public static void main(String[] arguments) throws Exception {
        EffectFile effects = new EffectFile(Path.of(arguments[1]));
        long seed = Long.parseLong(arguments[2]);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (CassandraStore store =
                        CassandraStore.builder(arguments[0]).create(false).build();
                Onlyonce once = Onlyonce.builder(store)
                        .lease(Duration.ofSeconds(3))
                        .sweepEvery(Duration.ofMillis(500))
                        .build()) {
            List<Future<?>> working = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                List<Key> keys = new ArrayList<>(keys());
                Collections.shuffle(keys, new Random(seed * THREADS + i));
                working.add(threads.submit(() -> KillStorm.work(once, keys, key -> execute(once, key, effects))));
            }
            for (Future<?> each : working) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void execute(Onlyonce once, Key key, EffectFile effects) {
        once.execute(key, REQUEST, String.class, claim -> {
            effects.add(claim);
            return "done";
        });
    }

    static List<Key> keys() {
        List<Key> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            keys.add(Key.of("acme", "POST /payments", "storm-" + i));
        }
        return keys;
    }
}
