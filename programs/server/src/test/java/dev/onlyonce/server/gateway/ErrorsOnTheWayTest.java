package dev.onlyonce.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An Error on the way of an exchange")
class ErrorsOnTheWayTest {
    private final List<Throwable> failures = new ArrayList<>();
    private final Error error = new OutOfMemoryError("unable to create native thread");

    private void failed(Throwable failure) {
        failures.add(failure);
    }

    @Test
    @DisplayName("ends it, be it thrown by the one that is to run a part, by that part, or by what follows")
    void ends() {
        GatewayLoop.follow(
                () -> {
                    throw error;
                },
                done -> {},
                this::failed);
        GatewayLoop.follow(() -> CompletableFuture.failedFuture(error), done -> {}, this::failed);
        GatewayLoop.follow(
                () -> CompletableFuture.completedFuture("x"),
                done -> {
                    throw error;
                },
                this::failed);
        assertThat(failures).containsExactly(error, error, error);
    }

    @Test
    @DisplayName(
            "does not come from a system that starts no more threads: what must be done has its threads from the start")
    void threads() throws Exception {
        AtomicInteger allowed = new AtomicInteger(Integer.MAX_VALUE);
        try (Workers workers = new Workers(1 << 20, task -> {
            if (allowed.decrementAndGet() < 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        })) {
            allowed.set(0);
            CountDownLatch done = new CountDownLatch(3);
            workers.begin(done::countDown);
            workers.settle(done::countDown);
            workers.compare(1 << 20, done::countDown);
            done.await();
            assertThatThrownBy(() -> workers.await(() -> {})).isInstanceOf(RejectedExecutionException.class);
        }
    }

    @Test
    @DisplayName("is rare: there are fewer than 200 threads, however many requests come")
    void fewThreads() {
        AtomicInteger started = new AtomicInteger();
        CountDownLatch over = new CountDownLatch(1);
        try (Workers workers = new Workers(1 << 20, task -> {
            started.incrementAndGet();
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        })) {
            for (int i = 0; i < 2 * Workers.THREADS; i++) {
                workers.begin(() -> await(over));
                workers.compare(1 << 20, () -> await(over));
                try {
                    workers.await(() -> await(over));
                } catch (RejectedExecutionException enough) {
                    // As it should.
                }
            }
            assertThat(started).hasValueLessThan(200);
        } finally {
            over.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
