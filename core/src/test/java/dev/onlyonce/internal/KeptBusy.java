package dev.onlyonce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;

/** A {@link GroupingStore} whose lanes can be kept busy, for callers that block and for those that do not. */
abstract class KeptBusy<F extends Future<ClaimResult>> {
    static final Duration LONG = Duration.ofSeconds(60);
    /** Is waited for in vain, but not before a busy machine has brought everybody to where they are to wait. */
    static final Duration SHORT = Duration.ofSeconds(2);

    final Time time = Time.system();
    final ExecutorService threads = Executors.newCachedThreadPool();
    final CountDownLatch gate = new CountDownLatch(1);
    final Semaphore atGate = new Semaphore(0);
    private final List<GroupingStore> groups = new ArrayList<>();

    @AfterEach
    void stop() {
        gate.countDown();
        groups.forEach(GroupingStore::close);
        threads.shutdownNow();
        time.close();
    }

    /** Claims the key. */
    abstract F claim(GroupingStore group, String key);

    /** Calls with keys "gate-…" wait until the gate opens. */
    final GroupedStore store(Consumer<List<EntryId>> then) {
        return new GroupedStore(ids -> {
            if (ids.stream().anyMatch(id -> id.key().startsWith("gate-"))) {
                atGate.release();
                waitFor(gate);
            }
            then.accept(ids);
        });
    }

    final GroupingStore group(Store store, int queueMax, Duration waitMax) {
        GroupingStore group =
                new GroupingStore(store, time, new GroupingStore.Limits(queueMax, waitMax), failure -> {});
        groups.add(group);
        return group;
    }

    /** Keeps all lanes busy until the gate opens. */
    final List<F> fillLanes(GroupingStore group) throws InterruptedException {
        List<F> first = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            first.add(claim(group, "gate-" + lane));
            assertThat(atGate.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        }
        return first;
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    static void waitFor(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void awaitWaiting(GroupingStore group, int count) {
        while (group.waiting() < count) {
            Thread.onSpinWait();
        }
    }
}
