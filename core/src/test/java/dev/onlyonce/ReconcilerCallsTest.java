package dev.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Time;
import dev.onlyonce.store.Tokens;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A reconciler")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReconcilerCallsTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final Time time = Time.system();
    private final MemoryStore store = new MemoryStore(time);
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger asked = new AtomicInteger();
    private Entry entry;

    /** Does not come back before the test is over, whoever interrupts it. */
    private final Reconciler deaf = unknown -> {
        asked.incrementAndGet();
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException e) {
                // Deaf.
            }
        }
        return new Reconciler.Finding.Found();
    };

    private final Reconciler interruptible = unknown -> {
        asked.incrementAndGet();
        new CountDownLatch(1).await();
        return new Reconciler.Finding.Found();
    };

    private final Reconciler good = unknown -> new Reconciler.Finding.Found();

    @BeforeEach
    void claim() {
        ClaimRequest request = new ClaimRequest(
                Key.of("acme", "POST /payments", "k-1").entryId(),
                "POST /payments",
                Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8)),
                Tokens.next(),
                "node",
                Policy.standard().terms(),
                State.PROCESSING);
        assertThat(store.claim(List.of(request))).containsExactly(new ClaimResult.Claimed(1));
        entry = store.find(List.of(request.id())).get(0).orElseThrow();
    }

    @AfterEach
    void close() {
        released.countDown();
        store.close();
        time.close();
    }

    @Test
    @DisplayName(
            "D11 D21 that does not answer is given up, not asked again before it has returned, and holds up no other")
    void deaf() {
        ReconcilerCalls calls = new ReconcilerCalls(2, SHORT);
        calls.begin();
        assertThat(calls.ask(deaf, entry))
                .isInstanceOfSatisfying(
                        Reconciler.Finding.CannotTell.class,
                        finding -> assertThat(finding.why()).contains("did not answer within PT0.05S"));
        assertThat(calls.isFree(deaf)).isFalse();
        calls.begin();
        assertThat(calls.isFree(deaf)).isFalse();
        assertThat(new ReconcilerCalls(2, LONG).ask(good, entry)).isInstanceOf(Reconciler.Finding.Found.class);
        assertThat(calls.isFree(good)).isTrue();
        released.countDown();
        untilFree(calls, deaf);
        assertThat(asked).hasValue(1);
    }

    @Test
    @DisplayName("D11 D21 that ends when it is interrupted is asked again in the next round, not in this one")
    void interruptible() {
        ReconcilerCalls calls = new ReconcilerCalls(1, SHORT);
        calls.begin();
        assertThat(calls.ask(interruptible, entry)).isInstanceOf(Reconciler.Finding.CannotTell.class);
        assertThat(calls.isFree(interruptible)).isFalse();
        untilFree(calls, interruptible);
        assertThat(calls.ask(interruptible, entry)).isInstanceOf(Reconciler.Finding.CannotTell.class);
        assertThat(asked).hasValue(2);
    }

    private static void untilFree(ReconcilerCalls calls, Reconciler reconciler) {
        while (!calls.isFree(reconciler)) {
            calls.begin();
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName("D21 whose caller is interrupted is interrupted too, and the caller stays so")
    void caller() {
        ReconcilerCalls calls = new ReconcilerCalls(1, LONG);
        Thread.currentThread().interrupt();
        assertThat(calls.ask(interruptible, entry)).isInstanceOf(Reconciler.Finding.CannotTell.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("D11 that fails, or finds nothing at all, cannot tell")
    void fails() {
        ReconcilerCalls calls = new ReconcilerCalls(1, LONG);
        assertThat(calls.ask(
                        unknown -> {
                            throw new StackOverflowError("a reconciler");
                        },
                        entry))
                .isInstanceOfSatisfying(
                        Reconciler.Finding.CannotTell.class,
                        finding -> assertThat(finding.why()).contains("a reconciler"));
        assertThat(calls.isFree(good)).isTrue();
    }
}
