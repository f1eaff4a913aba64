package dev.onlyonce.redis;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/** A node of the storm: its threads execute all keys, in an order of their own, again and again until all are decided. */
final class StormNode {
    static final int KEYS = 400;
    static final int THREADS = 4;
    /** Before and after the effect: kills hit the action at every point of it. */
    private static final Duration PAUSE_MAX = Duration.ofMillis(30);

    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    private StormNode() {}

    /** Takes the URL of Redis, the file to which effects are appended, and a seed. */
    public static void main(String[] arguments) throws Exception {
        Path ledger = Path.of(arguments[1]);
        long seed = Long.parseLong(arguments[2]);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (RedisStore store = store(arguments[0]);
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .lease(Duration.ofSeconds(3))
                        .sweepEvery(Duration.ofMillis(200))
                        .build()) {
            List<Future<?>> all = IntStream.range(0, THREADS)
                    .<Future<?>>mapToObj(i -> threads.submit(() -> execute(once, ledger, seed * THREADS + i)))
                    .toList();
            for (Future<?> each : all) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void execute(Onlyonce once, Path ledger, long seed) {
        Random random = new Random(seed);
        List<Key> undecided = new ArrayList<>(keys());
        Collections.shuffle(undecided, random);
        while (!undecided.isEmpty()) {
            for (Key key : undecided) {
                try {
                    once.execute(key, REQUEST, String.class, claim -> {
                        LockSupport.parkNanos(random.nextLong(PAUSE_MAX.toNanos()));
                        append(ledger, key);
                        LockSupport.parkNanos(random.nextLong(PAUSE_MAX.toNanos()));
                        return "done " + key.value();
                    });
                } catch (StoreException e) {
                    // Tried again, as a client does.
                }
            }
            undecided.removeIf(key -> isDecided(once, key));
        }
    }

    private static boolean isDecided(Onlyonce once, Key key) {
        try {
            return once.find(key)
                    .filter(entry -> entry.state() == State.COMPLETED || entry.state() == State.UNKNOWN)
                    .isPresent();
        } catch (StoreException e) {
            return false;
        }
    }

    /** The effect: a line that outlives this process, whenever that is killed. */
    private static void append(Path ledger, Key key) {
        try {
            Files.writeString(
                    ledger,
                    key.value() + "\n",
                    StandardCharsets.UTF_8,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Key> keys() {
        return IntStream.range(0, KEYS)
                .mapToObj(i -> Key.of("acme", "POST /payments", "key-" + i))
                .toList();
    }

    static RedisStore store(String url) {
        return RedisStore.builder(url).timeout(Duration.ofSeconds(10)).build();
    }
}
