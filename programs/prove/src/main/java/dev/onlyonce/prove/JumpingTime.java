package dev.onlyonce.prove;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** The system's time, with a wall clock that somebody may set. Any number of threads. */
final class JumpingTime implements Time {
    private final Time system = Time.system();
    private volatile Duration ahead = Duration.ZERO;

    /** Sets the wall clock to this long after the truth; negative: before it. */
    void set(Duration ahead) {
        this.ahead = ahead;
    }

    @Override
    public Instant now() {
        return system.now().plus(ahead);
    }

    @Override
    public long nanos() {
        return system.nanos();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        return system.schedule(delay, task);
    }

    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        return system.await(signal, max);
    }

    @Override
    public void run(Executor threads, Runnable work) {
        system.run(threads, work);
    }

    @Override
    public void close() {
        system.close();
    }
}
