package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Order(1)
@DisplayName("Several nodes at once")
final class ConcurrentNodesTest {
    private static final int NODES = 3;
    private static final int ROUNDS = Boolean.getBoolean("onlyonce.thorough") ? 150 : 50;
    private static final int BATCH = 24;
    private static final int TRIES_MAX = 5;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    @DisplayName("C1 claim and settle overlapping shuffled batches without a deadlock, and each key has one winner")
    void overlapping(TestDatabase database) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(NODES);
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.open(dataSource).close();
            CyclicBarrier barrier = new CyclicBarrier(NODES);
            AtomicInteger won = new AtomicInteger();
            AtomicReference<Exception> failed = new AtomicReference<>();
            List<Future<?>> nodes = new ArrayList<>();
            for (int node = 0; node < NODES; node++) {
                int number = node;
                Callable<Void> work = () -> {
                    try {
                        run(SqlStore.open(dataSource), new Random(number), barrier, won);
                    } catch (Exception e) {
                        // The others need not wait for this one; the first to fail is the cause.
                        failed.compareAndSet(null, e);
                        barrier.reset();
                    }
                    return null;
                };
                nodes.add(executor.submit(work));
            }
            for (Future<?> node : nodes) {
                node.get(4, TimeUnit.MINUTES);
            }
            if (failed.get() != null) {
                throw failed.get();
            }
            assertThat(won).hasValue(ROUNDS * BATCH);
            assertThat(SqlClock.number(dataSource, "SELECT count(*) FROM onlyonce_entry WHERE state = 3"))
                    .isEqualTo((long) (ROUNDS - 1) * BATCH);
        } finally {
            executor.shutdownNow();
        }
    }

    /** Every round: claim the same new keys as the other nodes, and settle what was won in the round before. */
    private static void run(SqlStore store, Random random, CyclicBarrier barrier, AtomicInteger won) throws Exception {
        List<Settlement> settlements = List.of();
        for (int round = 0; round < ROUNDS; round++) {
            List<ClaimRequest> claims = new ArrayList<>(Claims.claims("round" + round + "-", BATCH));
            Collections.shuffle(claims, random);
            barrier.await(60, TimeUnit.SECONDS);
            List<Settlement> ends = settlements;
            answered(() -> store.settle(ends));
            List<ClaimResult> results = answered(() -> store.claim(claims));
            List<Settlement> next = new ArrayList<>();
            for (int i = 0; i < claims.size(); i++) {
                if (results.get(i) instanceof ClaimResult.Claimed) {
                    next.add(Claims.settle(claims.get(i), State.COMPLETED));
                }
            }
            won.addAndGet(next.size());
            settlements = next;
        }
    }

    /**
     * Asks again, as the engine does: with the same tokens the same is done once. On a busy machine somebody may hold a lock for longer
     * than a statement waits, perhaps after a part of a batch was written.
     */
    private static <T> List<T> answered(Supplier<List<T>> call) {
        for (int tries = 1; ; tries++) {
            try {
                List<T> answers = call.get();
                if (tries == TRIES_MAX || answers.stream().noneMatch(ConcurrentNodesTest::isBusy)) {
                    return answers;
                }
            } catch (StoreBusy | StoreOutcomeUnknown e) {
                if (tries == TRIES_MAX) {
                    throw e;
                }
            }
        }
    }

    private static boolean isBusy(Object answer) {
        return answer instanceof ClaimResult.Busy || answer instanceof SettleResult.Busy;
    }
}
