package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testservers.RedisCluster;
import dev.onlyonce.testservers.RedisServer;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A cluster that loses a master while nodes work on it. */
@DisplayName("A Redis cluster")
class ClusterFailureTest {
    private static final Fingerprint PRINT = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
    private static final Duration PAUSE = Duration.ofMillis(10);
    private static final int CALLERS = 8;
    private static final int KEYS = 1200;

    private final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    private volatile boolean over;

    @AfterEach
    void stop() {
        over = true;
        callers.shutdownNow();
    }

    @Test
    @DisplayName(
            "E4 C1 R3 whose master is killed under load runs nothing twice and loses no answer when replicas are waited for")
    void masterKilled() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = RedisStore.builder(cluster.url())
                        .replicas(1)
                        .timeout(Duration.ofSeconds(1))
                        .build();
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .lease(Duration.ofSeconds(2))
                        .build()) {
            AtomicInteger next = new AtomicInteger();
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                done.add(callers.submit(() -> {
                    for (int key = next.getAndIncrement(); key < KEYS; key = next.getAndIncrement()) {
                        customer(once, "key-" + key);
                    }
                }));
            }
            while (next.get() < KEYS / 4) {
                LockSupport.parkNanos(PAUSE.toNanos());
            }
            RedisServer killed = cluster.servers().get(0);
            RedisServer promoted = cluster.servers().get(3);
            killed.kill();
            promoted.await("role:master", "INFO", "replication");
            // Until the new master has a replica, nothing of its partitions is acknowledged.
            killed.restart();
            for (Future<?> caller : done) {
                caller.get(2, TimeUnit.MINUTES);
            }

            assertThat(answers.size()).as("answered").isGreaterThan(KEYS / 2);
            effects.forEach((key, count) -> assertThat(count.get()).as(key).isEqualTo(1));
            // What was answered is answered the same way by the replica that took over.
            for (var answered : answers.entrySet()) {
                Outcome<String> again =
                        Calls.untilTaken(() -> once.execute(key(answered.getKey()), PRINT, String.class, claim -> {
                            throw new AssertionError(answered.getKey() + " runs again");
                        }));
                assertThat(again.orElseThrow()).isEqualTo(answered.getValue());
            }
            assertThat(killed.command("INFO", "replication")).contains("role:slave");
        }
    }

    private static Key key(String key) {
        return Key.of("acme", "POST /payments", key);
    }

    /** Asks until there is an answer; what ends as unknown is for the reconciler. */
    private void customer(Onlyonce once, String key) {
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
}
