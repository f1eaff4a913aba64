package dev.onlyonce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GroupCommitStressTest {
    private static final int CALLERS = 48;
    private static final int CALLS_EACH = 400;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Time time = Time.system();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void stop() {
        threads.shutdownNow();
        time.close();
    }

    /** What goes wrong, in percent of the calls, and how long callers wait. */
    record Weather(int unavailable, int unknown, int slow, int crowded, Duration waitMax) {}

    @ParameterizedTest(name = "seed {0}, unavailable {1} %, unknown {2} %, slow {3} %, waiting at most {4} ms")
    @CsvSource({"1,0,0,5,5000", "2,0,20,5,5000", "3,1,5,5,5000", "4,0,5,40,3", "5,1,5,40,1", "6,0,0,0,5000"})
    @DisplayName("every caller gets its own answer or its own failure, in time, and no lane is lost")
    void weathers(long seed, int unavailable, int unknown, int slow, long waitMaxMillis) throws Exception {
        Weather weather = new Weather(unavailable, unknown, slow, 16, Duration.ofMillis(waitMaxMillis));
        AtomicBoolean fair = new AtomicBoolean();
        AtomicLong callNumber = new AtomicLong();
        CyclicBarrier allLanes = new CyclicBarrier(CallQueue.LANES);
        GroupedStore store = new GroupedStore(ids -> {
            if (fair.get()) {
                meet(allLanes);
            } else {
                blow(weather, new Random(seed * 1_000_003 + callNumber.incrementAndGet()), ids);
            }
        });
        GroupingStore group =
                new GroupingStore(store, time, new GroupingStore.Limits(CALLERS, weather.waitMax()), failure -> {});
        AtomicInteger answers = new AtomicInteger();
        List<Future<?>> callers = new ArrayList<>();
        for (int caller = 0; caller < CALLERS; caller++) {
            Random random = new Random(seed * 31 + caller);
            callers.add(threads.submit(() -> {
                for (int i = 0; i < CALLS_EACH; i++) {
                    answers.addAndGet(call(group, random, weather) ? 1 : 0);
                }
            }));
        }
        for (Future<?> caller : callers) {
            caller.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(store.breaches).isEmpty();
        // How many depends on the machine: a refused call costs nothing, so a slow store sees few of them.
        assertThat(answers.get()).as("answers").isPositive();

        // All lanes are free: as many calls as there are lanes meet in the store, each alone because nobody waits.
        fair.set(true);
        store.calls.clear();
        List<Future<?>> last = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            String key = "last-" + lane;
            last.add(threads.submit(() -> claimWhenWell(group, key)));
        }
        for (Future<?> call : last) {
            call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(store.calls)
                .hasSize(CallQueue.LANES)
                .allSatisfy(ids -> assertThat(ids).hasSize(1));
    }

    private static void claimWhenWell(GroupingStore group, String key) {
        while (true) {
            try {
                assertThat(group.claim(GroupedStore.claim(key))).isEqualTo(GroupedStore.claimed(GroupedStore.id(key)));
                return;
            } catch (StoreUnavailable paused) {
                LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
            }
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException("The other lane did not come", e);
        }
    }

    private static void blow(Weather weather, Random random, List<EntryId> ids) {
        if (random.nextInt(100) < weather.slow()) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(5_000)));
        }
        if (random.nextInt(1000) < weather.unavailable()) {
            throw new StoreUnavailable("weather", null);
        }
        if (random.nextInt(100) < weather.unknown()) {
            throw new StoreOutcomeUnknown("weather", null);
        }
        for (EntryId id : ids) {
            switch (kind(id.key())) {
                case 'r' -> throw new StoreRejected("a bad row", null);
                case 'b' -> throw new StoreBusy("a busy row", null);
                case 'x' -> throw new IllegalStateException("a bug in the store");
                default -> {}
            }
        }
    }

    private static char kind(String key) {
        return key.charAt(0);
    }

    private static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    /** One call, by one that blocks or by one that does not, and the check of what came of it; whether there was an answer. */
    private static boolean call(GroupingStore group, Random random, Weather weather) {
        int chance = random.nextInt(100);
        char kind = chance < 1 ? 'r' : chance < 2 ? 'b' : chance < 3 ? 'x' : 'g';
        String key = kind + "-" + random.nextInt(weather.crowded());
        EntryId id = GroupedStore.id(key);
        boolean interrupt = random.nextInt(20) == 0;
        if (interrupt) {
            Thread.currentThread().interrupt();
        }
        long begun = System.nanoTime();
        try {
            switch (random.nextInt(5)) {
                case 0 -> assertThat(group.claim(GroupedStore.claim(key))).isEqualTo(GroupedStore.claimed(id));
                case 1 -> assertThat(group.settle(GroupedStore.settlement(key))).isEqualTo(GroupedStore.settled(id));
                case 2 ->
                    assertThat(join(group.claimAsync(GroupedStore.claim(key)))).isEqualTo(GroupedStore.claimed(id));
                case 3 ->
                    assertThat(join(group.settleAsync(GroupedStore.settlement(key))))
                            .isEqualTo(GroupedStore.settled(id));
                default ->
                    assertThat(group.find(id))
                            .hasValueSatisfying(entry -> assertThat(entry.id()).isEqualTo(id));
            }
            assertThat(kind).isEqualTo('g');
            return true;
        } catch (StoreException e) {
            boolean fair = (e instanceof StoreRejected && kind == 'r')
                    || (e instanceof StoreBusy && kind == 'b')
                    || e instanceof StoreUnavailable
                    || e instanceof StoreOutcomeUnknown;
            assertThat(fair).as("%s got %s", key, e).isTrue();
            return false;
        } catch (IllegalStateException e) {
            assertThat(kind).as("%s got %s", key, e).isEqualTo('x');
            return false;
        } finally {
            assertThat(Thread.interrupted()).as("interrupt kept").isEqualTo(interrupt);
            assertThat(System.nanoTime() - begun).isLessThan(PATIENCE.toNanos());
        }
    }
}
