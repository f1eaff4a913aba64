package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Begun;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Callbacks of the application")
class CallbacksTest {
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int UNRELATED = 50;
    private static final int PATIENCE_SECONDS = 60;

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final ExecutorService clock = Executors.newSingleThreadExecutor();
    private final CountDownLatch released = new CountDownLatch(1);
    /** Keys whose claims are lost at the next heartbeat. */
    private volatile String lost = "none";

    private volatile boolean down;

    private final ForwardingStore store = new ForwardingStore(memory) {
        @Override
        @SuppressWarnings("unchecked")
        <T> T around(Verb verb, Object asked, Supplier<T> call) {
            if (down) {
                throw new StoreUnavailable("down", null);
            }
            T answer = call.get();
            if (verb != Verb.RENEW) {
                return answer;
            }
            List<RenewResult> results = new ArrayList<>();
            for (Renewal renewal : (List<Renewal>) asked) {
                results.add(renewal.id().key().startsWith(lost) ? RenewResult.LOST : RenewResult.RENEWED);
            }
            return (T) results;
        }
    };

    @AfterEach
    void close() {
        released.countDown();
        clock.shutdownNow();
        store.close();
        time.close();
    }

    private Onlyonce node(Listener... listeners) {
        Onlyonce.Builder builder =
                Onlyonce.builder(store).time(time).lease(LEASE).cacheBytesMax(0);
        List.of(listeners).forEach(builder::listener);
        return builder.build();
    }

    /** Lets time pass on a thread of its own, which a callback must not block. */
    private void pass(Duration span) throws Exception {
        clock.submit(() -> time.advance(span)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private static OpenClaim claim(Onlyonce once, String key) {
        Key of = Key.of("acme", "POST /payments", key);
        return ((Begun.Claimed) once.begin(of, PRINT)).claim();
    }

    private static List<OpenClaim> unrelated(Onlyonce once) {
        List<OpenClaim> claims = new ArrayList<>();
        for (int i = 0; i < UNRELATED; i++) {
            claims.add(claim(once, "unrelated-" + i));
        }
        return claims;
    }

    private void block() {
        boolean interrupted = false;
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @DisplayName("D21 callbacks of lost claims that block, break or leave an interrupt cost no other claim its lease")
    void onLost() throws Exception {
        try (Onlyonce once = node()) {
            List<OpenClaim> others = unrelated(once);
            BlockingQueue<String> called = new LinkedBlockingQueue<>();
            for (int i = 0; i < 3; i++) {
                claim(once, "lost-blocks-" + i).onLost(this::block);
            }
            claim(once, "lost-breaks").onLost(() -> {
                throw new StackOverflowError("a callback");
            });
            claim(once, "lost-interrupts").onLost(() -> Thread.currentThread().interrupt());
            claim(once, "lost-called").onLost(() -> called.add("called"));
            lost = "lost";
            pass(LEASE.multipliedBy(10));
            assertThat(called.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("called");
            assertThat(others).allMatch(OpenClaim::isHeld);
        }
    }

    @Test
    @DisplayName("D21 a listener that blocks costs no claim its lease, and no other listener its events")
    void listener() throws Exception {
        BlockingQueue<Event> heard = new LinkedBlockingQueue<>();
        Listener blocks = event -> {
            if (event instanceof Event.StoreFailed) {
                block();
            }
        };
        try (Onlyonce once = node(blocks, event -> {
            if (event instanceof Event.StoreFailed) {
                heard.add(event);
                throw new StackOverflowError("a listener");
            }
        })) {
            List<OpenClaim> others = unrelated(once);
            down = true;
            pass(LEASE.dividedBy(2));
            down = false;
            pass(LEASE.multipliedBy(10));
            assertThat(others).allMatch(OpenClaim::isHeld);
            assertThat(heard.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(Event.StoreFailed.class);
        }
    }

    @Test
    @DisplayName("D21 a listener hears of background work in order, even if it is slow")
    void order() throws Exception {
        BlockingQueue<String> swept = new LinkedBlockingQueue<>();
        try (Onlyonce sweeper = node(event -> {
            if (event instanceof Event.LeaseLapsed lapsed) {
                if (swept.isEmpty()) {
                    block();
                }
                swept.add(lapsed.transition().id().key());
            }
        })) {
            try (Onlyonce dead =
                    Onlyonce.builder(memory).time(new ManualTime()).lease(LEASE).build()) {
                List<String> keys = new ArrayList<>();
                for (int i = 0; i < 9; i++) {
                    keys.add("dead-" + i);
                    claim(dead, "dead-" + i);
                    pass(Duration.ofSeconds(2));
                }
                pass(LEASE.multipliedBy(2));
                assertThat(sweeper.liveClaims()).isZero();
                released.countDown();
                for (String key : keys) {
                    assertThat(swept.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(key);
                }
            }
        }
    }
}
