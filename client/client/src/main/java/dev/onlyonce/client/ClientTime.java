package dev.onlyonce.client;

import java.time.Duration;
import java.time.Instant;

/** A client's source of time. Deadlines and pauses follow the monotonic clock, so that a jump of the wall clock does no harm. */
public interface ClientTime {
    /** The wall clock. */
    Instant now();

    /** A monotonic clock in nanoseconds, as {@link System#nanoTime()}. */
    long nanos();

    /** Returns after this time. */
    void pause(Duration duration) throws InterruptedException;

    /** The system's clocks. */
    static ClientTime system() {
        return new SystemClientTime();
    }
}
