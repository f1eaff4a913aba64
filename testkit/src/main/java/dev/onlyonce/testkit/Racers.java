package dev.onlyonce.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs the same thing on many threads that start together. */
final class Racers {
    /** A deadlock shows as a failure; a loaded machine does not. */
    private static final long PATIENCE_SECONDS = 120;

    private Racers() {}

    /** What one racer does. */
    @FunctionalInterface
    interface Racer<T> {
        T run(int number) throws Exception;
    }

    /** Every racer's answer, in the order of their numbers; throws what any of them threw. */
    static <T> List<T> race(int racers, Racer<T> racer) {
        CyclicBarrier start = new CyclicBarrier(racers);
        ExecutorService threads = Executors.newFixedThreadPool(racers);
        try {
            List<Future<T>> futures = new ArrayList<>();
            for (int i = 0; i < racers; i++) {
                int number = i;
                futures.add(threads.submit(() -> {
                    start.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
                    return racer.run(number);
                }));
            }
            List<T> answers = new ArrayList<>();
            for (Future<T> future : futures) {
                answers.add(future.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }
            return answers;
        } catch (ExecutionException e) {
            throw new AssertionError("a racer failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("the racers did not finish: is there a deadlock?", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        } finally {
            threads.shutdownNow();
        }
    }
}
