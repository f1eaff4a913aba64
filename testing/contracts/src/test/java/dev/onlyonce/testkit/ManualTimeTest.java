package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ManualTimeTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualTime time = new ManualTime();
    private final Instant start = time.now();
    private final List<String> ran = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        time.close();
        threads.shutdownNow();
    }

    @Test
    @DisplayName("time stands still until it is advanced")
    void standsStill() {
        long nanos = time.nanos();
        assertThat(time.now()).isEqualTo(start);
        time.advance(SECOND);
        assertThat(time.now()).isEqualTo(start.plusSeconds(1));
        assertThat(time.nanos() - nanos).isEqualTo(SECOND.toNanos());
        assertThatThrownBy(() -> time.advance(SECOND.negated())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("due tasks run in the order of time, each at its own instant, on the thread that advances")
    void runsInOrder() {
        Thread here = Thread.currentThread();
        for (int seconds : new int[] {3, 1, 2, 1, 5}) {
            time.schedule(Duration.ofSeconds(seconds), () -> {
                assertThat(Thread.currentThread()).isSameAs(here);
                ran.add(seconds + " at " + Duration.between(start, time.now()).toSeconds());
            });
        }
        time.advance(Duration.ofSeconds(3));
        assertThat(ran).containsExactly("1 at 1", "1 at 1", "2 at 2", "3 at 3");
        assertThat(time.tasks()).isEqualTo(1);
        assertThat(time.now()).isEqualTo(start.plusSeconds(3));
    }

    @Test
    @DisplayName("a task that schedules itself again runs as often as the advance is long")
    void repeats() {
        repeat();
        time.advance(Duration.ofSeconds(10));
        assertThat(ran).hasSize(10);
    }

    private void repeat() {
        time.schedule(SECOND, () -> {
            ran.add("again");
            repeat();
        });
    }

    @Test
    @DisplayName("a cancelled task does not run")
    void cancels() {
        Time.Scheduled task = time.schedule(SECOND, () -> ran.add("cancelled"));
        task.cancel();
        time.advance(SECOND);
        assertThat(ran).isEmpty();
    }

    @Test
    @DisplayName("a waiting thread goes on when its deadline is reached, and not before")
    void waitsForTheDeadline() throws Exception {
        Future<Boolean> waiter = threads.submit(() -> time.await(new CompletableFuture<Void>(), SECOND));
        time.untilWaiting(1);
        time.advance(SECOND.minusNanos(1));
        assertThat(waiter.isDone()).isFalse();
        time.advance(Duration.ofNanos(1));
        assertThat(waiter.get(60, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    @DisplayName("a waiting thread goes on when it is signalled, without any time passing")
    void waitsForTheSignal() throws Exception {
        CompletableFuture<Void> signal = new CompletableFuture<>();
        List<Future<Boolean>> waiters = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiters.add(threads.submit(() -> time.await(signal, SECOND)));
        }
        time.untilWaiting(5);
        signal.complete(null);
        for (Future<Boolean> waiter : waiters) {
            assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(time.now()).isEqualTo(start);
        assertThat(time.await(signal, SECOND)).isTrue();
    }

    @Test
    @DisplayName("a task that signals a waiting thread does not deadlock with the thread that advances")
    void taskSignals() throws Exception {
        CompletableFuture<Void> signal = new CompletableFuture<>();
        time.schedule(SECOND, () -> signal.complete(null));
        Future<Boolean> waiter = threads.submit(() -> time.await(signal, Duration.ofHours(1)));
        time.untilWaiting(1);
        time.advance(SECOND);
        assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    @DisplayName("closing lets waiting threads go and forgets the tasks")
    void closes() throws Exception {
        time.schedule(SECOND, () -> ran.add("late"));
        Future<Boolean> waiter = threads.submit(() -> time.await(new CompletableFuture<Void>(), SECOND));
        time.untilWaiting(1);
        time.close();
        assertThat(waiter.get(60, TimeUnit.SECONDS)).isFalse();
        time.advance(SECOND);
        assertThat(ran).isEmpty();
    }

    @Test
    @DisplayName("a jump of the wall clock moves neither the monotonic clock nor the tasks")
    void jumps() {
        time.schedule(SECOND, () -> ran.add("on time"));
        long nanos = time.nanos();
        time.jump(Duration.ofHours(-5));
        assertThat(time.now()).isEqualTo(start.minus(Duration.ofHours(5)));
        assertThat(time.nanos()).isEqualTo(nanos);
        time.advance(SECOND);
        assertThat(ran).containsExactly("on time");
    }
}
