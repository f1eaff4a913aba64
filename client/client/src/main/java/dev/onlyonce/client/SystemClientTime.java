package dev.onlyonce.client;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Real time. */
final class SystemClientTime implements ClientTime {
    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public void pause(Duration duration) throws InterruptedException {
        boolean never = new CountDownLatch(1).await(duration.toNanos(), TimeUnit.NANOSECONDS);
        assert !never;
    }
}
