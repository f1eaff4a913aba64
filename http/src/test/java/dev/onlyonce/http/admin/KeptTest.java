package dev.onlyonce.http.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What all open consoles share")
class KeptTest {
    private final Hands time = new Hands();
    private final Kept<Integer> kept = new Kept<>(time);
    private int looks;

    /** A clock that a test moves. */
    private static final class Hands implements Time {
        private long nanos;

        void advance(Duration by) {
            nanos += by.toNanos();
        }

        @Override
        public Instant now() {
            return Instant.EPOCH.plusNanos(nanos);
        }

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean await(CompletableFuture<?> signal, Duration max) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    private int looks(Duration each) {
        return kept.get(() -> {
            time.advance(each);
            return ++looks;
        });
    }

    @Test
    @DisplayName("is looked up every two seconds, however many of them ask")
    void shared() {
        for (int i = 0; i < 100; i++) {
            assertThat(looks(Duration.ofMillis(1))).isEqualTo(1);
        }
        time.advance(Duration.ofSeconds(2));
        assertThat(looks(Duration.ofMillis(1))).isEqualTo(2);
    }

    @Test
    @DisplayName("takes a hundredth of the time of a thread, however slow the store is, and is at most a minute old")
    void slow() {
        looks(Duration.ofMillis(200));
        time.advance(Duration.ofSeconds(19));
        assertThat(looks(Duration.ofMillis(200))).isEqualTo(1);
        time.advance(Duration.ofSeconds(1));
        assertThat(looks(Duration.ofSeconds(30))).isEqualTo(2);
        time.advance(Duration.ofSeconds(59));
        assertThat(looks(Duration.ofMillis(1))).isEqualTo(2);
        time.advance(Duration.ofSeconds(1));
        assertThat(looks(Duration.ofMillis(1))).isEqualTo(3);
    }

    @Test
    @DisplayName("D11 is what was seen before while the store hangs: one who asks waits for it, and no other")
    void hanging() throws Exception {
        looks(Duration.ZERO);
        time.advance(Duration.ofSeconds(2));
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        CompletableFuture<Integer> waiting = CompletableFuture.supplyAsync(() -> kept.get(() -> {
            asked.countDown();
            try {
                answers.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return 2;
        }));
        asked.await();
        assertThat(looks(Duration.ZERO)).isEqualTo(1);
        answers.countDown();
        assertThat(waiting.get()).isEqualTo(2);
        assertThat(looks).isEqualTo(1);
    }

    @Test
    @DisplayName("is looked up again after a look that failed")
    void failed() {
        assertThatThrownBy(() -> kept.get(() -> {
                    throw new IllegalStateException("no store");
                }))
                .hasMessage("no store");
        assertThat(looks(Duration.ZERO)).isEqualTo(1);
    }
}
