package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Duplicates of one key on one node")
class HotKeysTest {
    private static final int CALLERS = 1_000;
    /** 3,050 without a compiler; 5,300 when a lease was divided by means of BigDecimal and every claim made futures. */
    private static final long FRESH_BYTES_MAX = 3_600;

    private static final byte[] RESULT = new byte[512];
    private static final Key KEY = Key.of("acme", "POST /payments", "hot");
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");

    private final AtomicInteger claims = new AtomicInteger();
    private final AtomicInteger finds = new AtomicInteger();
    private final CountDownLatch goOn = new CountDownLatch(1);
    private volatile boolean down;
    private volatile boolean hangs;
    private final MemoryStore memory = new MemoryStore(Time.system());
    private final Onlyonce once = Onlyonce.builder(new ForwardingStore(memory) {
                @Override
                public List<ClaimResult> claim(List<ClaimRequest> requests) {
                    claims.addAndGet(requests.size());
                    hang();
                    if (down) {
                        throw new StoreUnavailable("down", null);
                    }
                    return super.claim(requests);
                }

                @Override
                public List<Optional<Entry>> find(List<EntryId> ids) {
                    finds.addAndGet(ids.size());
                    return super.find(ids);
                }
            })
            .build();
    private final ExecutorService threads = Executors.newFixedThreadPool(CALLERS);

    @AfterEach
    void close() {
        threads.shutdownNow();
        once.close();
        memory.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "D16 C1 1,000 callers at once cost the store one claim and at most one look-up, whether they wait or not")
    void storm(boolean waits) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(waits ? 0 : CALLERS - 1);
        AtomicInteger executed = new AtomicInteger();
        List<Future<Outcome<String>>> callers = new ArrayList<>();
        var policy = once.registry().policy(KEY.operation()).toBuilder()
                .waitMax(waits ? Duration.ofSeconds(60) : Duration.ZERO)
                .build();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(threads.submit(() -> {
                go.await();
                Outcome<String> outcome = once.registry().execute(KEY, PRINT, policy, Codec.text(), claim -> {
                    executed.incrementAndGet();
                    assertThat(answered.await(60, TimeUnit.SECONDS)).isTrue();
                    return "done";
                });
                answered.countDown();
                return outcome;
            }));
        }
        go.countDown();
        for (Future<Outcome<String>> caller : callers) {
            assertThat(caller.get(60, TimeUnit.SECONDS))
                    .isInstanceOfAny(Outcome.Executed.class, waits ? Outcome.Replayed.class : Outcome.InFlight.class);
        }
        assertThat(executed).hasValue(1);
        // One may find neither the claim, which has just ended, nor yet the answer.
        assertThat(claims.get() + finds.get()).isLessThanOrEqualTo(2);
    }

    @Test
    @DisplayName("D16 a fresh key that nobody repeats costs its caller at most 3,600 bytes in front of the store")
    void fresh() {
        var bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        try (Onlyonce answered = Onlyonce.builder(new InstantStore(memory)).build()) {
            for (int round = 0; round < 20 && least > FRESH_BYTES_MAX; round++) {
                long before = bean.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < CALLERS; i++) {
                    Key key = Key.of("acme", "POST /payments", round + "-" + i);
                    answered.execute(key, PRINT, Codec.bytes(), claim -> RESULT);
                }
                least = Math.min(least, (bean.getCurrentThreadAllocatedBytes() - before) / CALLERS);
            }
        }
        assertThat(least).isLessThanOrEqualTo(FRESH_BYTES_MAX);
    }

    /** Answers without doing anything. */
    private static final class InstantStore extends ForwardingStore {
        private static final SettleResult SETTLED =
                new SettleResult.Settled(Instant.EPOCH, Instant.EPOCH.plus(Duration.ofDays(1)));

        InstantStore(Store store) {
            super(store);
        }

        @Override
        public List<ClaimResult> claim(List<ClaimRequest> requests) {
            return List.of(new ClaimResult.Claimed(1));
        }

        @Override
        public List<SettleResult> settle(List<Settlement> settlements) {
            return List.of(SETTLED);
        }
    }

    @Test
    @DisplayName("F1 another request with the key of a running one is refused by the store")
    void anotherRequest() {
        var claim = ((Begun.Claimed) once.begin(KEY, PRINT)).claim();
        Begun other = once.begin(KEY, Requests.fingerprint("20 EUR"));
        assertThat(((Begun.Answered) other).outcome()).isInstanceOf(Outcome.Mismatched.class);
        assertThat(claims).hasValue(2);
        claim.retryable("not executed");
        assertThat(once.begin(KEY, PRINT)).isInstanceOf(Begun.Claimed.class);
    }

    @Test
    @DisplayName("D11 a question that fails is not the answer to the next one")
    void failed() {
        down = true;
        assertThat(begin()).isInstanceOf(StoreUnavailable.class);
        down = false;
        Object begun = begin();
        // Callers are refused without an attempt for a moment.
        while (begun instanceof StoreUnavailable) {
            begun = begin();
        }
        assertThat(begun).isInstanceOf(Begun.Claimed.class);
    }

    private void hang() {
        if (hangs && claims.get() == 1) {
            try {
                assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new StoreUnavailable("interrupted", e);
            }
        }
    }

    @Test
    @DisplayName("D16 D11 a duplicate that does not block asks for itself when the first caller's question hangs")
    void hangingQuestion() throws Exception {
        hangs = true;
        Future<Begun> first = threads.submit(() -> once.begin(KEY, PRINT));
        while (claims.get() == 0) {
            Thread.onSpinWait();
        }
        var policy = once.registry().policy(KEY.operation());
        CompletableFuture<Begun> duplicate =
                once.registry().claim(KEY, PRINT, policy, threads).toCompletableFuture();
        assertThat(duplicate.get(20, TimeUnit.SECONDS)).isInstanceOf(Begun.Claimed.class);
        assertThat(first).isNotDone();
        goOn.countDown();
        assertThat(((Begun.Answered) first.get(60, TimeUnit.SECONDS)).outcome()).isInstanceOf(Outcome.InFlight.class);
    }

    private Object begin() {
        try {
            return once.begin(KEY, PRINT);
        } catch (StoreUnavailable e) {
            return e;
        }
    }
}
