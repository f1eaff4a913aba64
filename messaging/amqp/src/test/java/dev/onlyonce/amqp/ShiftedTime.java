package dev.onlyonce.amqp;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** Real time whose monotonic clock can be put forward, as if something had taken that long. */
final class ShiftedTime implements Time {
    private final Time real = Time.system();
    private final AtomicLong shiftNanos = new AtomicLong();

    void shift(Duration by) {
        shiftNanos.addAndGet(by.toNanos());
    }

    @Override
    public Instant now() {
        return real.now();
    }

    @Override
    public long nanos() {
        return real.nanos() + shiftNanos.get();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        return real.schedule(delay, task);
    }

    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        return real.await(signal, max);
    }

    @Override
    public void close() {
        real.close();
    }
}
