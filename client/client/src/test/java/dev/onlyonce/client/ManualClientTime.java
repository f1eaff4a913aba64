package dev.onlyonce.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Time that passes only when somebody pauses, or a test says so. */
public final class ManualClientTime implements ClientTime {
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private long nanos;
    private final List<Duration> pauses = new ArrayList<>();

    @Override
    public synchronized Instant now() {
        return now;
    }

    @Override
    public synchronized long nanos() {
        return nanos;
    }

    @Override
    public synchronized void pause(Duration duration) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        pauses.add(duration);
        advance(duration);
    }

    /** Both clocks go on. */
    public synchronized void advance(Duration duration) {
        nanos += duration.toNanos();
        now = now.plus(duration);
    }

    /** The wall clock alone jumps. */
    public synchronized void jump(Duration duration) {
        now = now.plus(duration);
    }

    synchronized List<Duration> pauses() {
        return List.copyOf(pauses);
    }
}
