package dev.onlyonce.testkit;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/** Time that passes every call on. */
class ForwardingTime implements Time {
    private final Time time;

    ForwardingTime(Time time) {
        this.time = time;
    }

    @Override
    public Instant now() {
        return time.now();
    }

    @Override
    public long nanos() {
        return time.nanos();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        return time.schedule(delay, task);
    }

    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        return time.await(signal, max);
    }

    @Override
    public void close() {
        time.close();
    }
}
