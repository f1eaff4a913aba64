package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The engine on a store that does not answer. */
class EngineHangsTest {
    /** How many calls group commit has under way at once. */
    private static final int LANES = 2;

    private final Time time = Time.system();
    private final FaultyStore store = new FaultyStore(new MemoryStore(time));
    private final Onlyonce once = Onlyonce.builder(store)
            .time(time)
            .storeWaitMax(Duration.ofMillis(200))
            .build();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger effects = new AtomicInteger();

    @AfterEach
    void close() {
        store.close();
        once.close();
        time.close();
        threads.shutdownNow();
    }

    private Outcome<String> pay(String key) {
        return once.execute(
                Key.of("acme", "POST /payments", key),
                Requests.fingerprint("10 EUR"),
                Codec.text(),
                claim -> "paid " + effects.incrementAndGet());
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HANGS", "HANGS_BEFORE", "HANGS_AFTER"})
    @DisplayName("D9 while the store hangs others are refused within a bound and run nothing; then all goes on")
    void hangs(Fault fault) throws Exception {
        for (int call = 1; call <= LANES; call++) {
            store.failAt(Verb.WRITE, call, fault);
        }
        List<Future<Outcome<String>>> stuck =
                List.of(threads.submit(() -> pay("first")), threads.submit(() -> pay("second")));
        store.untilHanging(LANES);

        assertThatThrownBy(() -> pay("third")).isInstanceOf(StoreUnavailable.class);
        assertThat(effects).hasValue(0);

        store.release();
        for (Future<Outcome<String>> future : stuck) {
            if (fault == Fault.HANGS_BEFORE) {
                assertThatThrownBy(() -> future.get(60, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(StoreUnavailable.class);
            } else {
                assertThat(future.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            }
        }
        assertThat(effects).hasValue(fault == Fault.HANGS_BEFORE ? 0 : LANES);
    }
}
