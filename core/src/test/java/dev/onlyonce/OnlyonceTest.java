package dev.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OnlyonceTest {
    private final Time time = Time.system();
    private final MemoryStore store = new MemoryStore(time);
    private final Onlyonce once = Onlyonce.builder(store).time(time).build();
    private final Key key = Key.of("acme", "POST /payments", "k-1");
    private final AtomicInteger effects = new AtomicInteger();

    @AfterEach
    void close() {
        once.close();
        time.close();
    }

    private Outcome<String> pay(String body) {
        return once.execute(key, print(body), Codec.text(), claim -> "paid " + effects.incrementAndGet());
    }

    private static Fingerprint print(String body) {
        return Fingerprint.of(body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    @DisplayName("R1 a retry gets the recorded result and executes nothing")
    void replays() {
        assertThat(pay("10 EUR"))
                .isInstanceOfSatisfying(
                        Outcome.Executed.class, o -> assertThat(o.value()).isEqualTo("paid 1"));
        for (int i = 0; i < 3; i++) {
            assertThat(pay("10 EUR"))
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class, o -> assertThat(o.value()).isEqualTo("paid 1"));
        }
        assertThat(effects).hasValue(1);
    }

    @Test
    @DisplayName("F1 the same key for another request is refused, from the store and from the cache")
    void refusesMisuse() {
        pay("10 EUR");
        assertThat(pay("20 EUR")).isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST));
        assertThat(pay("20 EUR")).isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST));
        assertThat(effects).hasValue(1);
    }

    @Test
    @DisplayName(
            "K6 the same key on another operation is a mismatch in scope TENANT and independent in scope OPERATION")
    void scopes() {
        pay("10 EUR");
        Key other = Key.of("acme", "POST /refunds", "k-1");
        assertThat(once.execute(other, print("10 EUR"), Codec.text(), claim -> "refunded"))
                .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.OPERATION));
        assertThat(once.execute(other.in(Scope.OPERATION), print("10 EUR"), Codec.text(), claim -> "refunded"))
                .isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("D4 an exception proves nothing: the outcome is unknown and nobody can run it again")
    void exceptionIsUnknown() {
        RuntimeException thrown = new RuntimeException("read timed out");
        assertThatThrownBy(() -> once.execute(key, print("10 EUR"), Codec.text(), claim -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(pay("10 EUR")).isInstanceOf(Outcome.Unknown.class);
        assertThat(effects).hasValue(0);
    }

    @Test
    @DisplayName("D5 a proven non-execution is retryable, and its exception passes by identity")
    void notExecutedIsRetryable() {
        NotExecuted thrown = new NotExecuted("connection refused");
        assertThatThrownBy(() -> once.execute(key, print("10 EUR"), Codec.text(), claim -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(pay("20 EUR")).isInstanceOf(Outcome.Mismatched.class);
        assertThat(pay("10 EUR")).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("C1 of 64 simultaneous first requests exactly one executes")
    void oneOfMany() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(64);
        CyclicBarrier barrier = new CyclicBarrier(64);
        List<Future<Outcome<String>>> outcomes = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Callable<Outcome<String>> racer = () -> {
                barrier.await();
                return pay("10 EUR");
            };
            outcomes.add(threads.submit(racer));
        }
        int executed = 0;
        for (Future<Outcome<String>> outcome : outcomes) {
            executed += outcome.get() instanceof Outcome.Executed ? 1 : 0;
        }
        threads.shutdown();
        assertThat(executed).isEqualTo(1);
        assertThat(effects).hasValue(1);
    }

    @Test
    @DisplayName("R5 a result over the limit is delivered, and a retry learns so and never executes")
    void tooLarge() {
        String large = "x".repeat((1 << 20) + 1);
        assertThat(once.execute(key, print("10 EUR"), Codec.text(), claim -> large))
                .isInstanceOf(Outcome.Executed.class);
        assertThat(pay("10 EUR"))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        o -> assertThat(o.failure().code()).isEqualTo(Failure.RESULT_NOT_STORED));
        assertThat(effects).hasValue(0);
    }
}
