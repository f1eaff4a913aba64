package dev.onlyonce.dynamodb;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A clock for tests that stands still: what it shows is exact. */
final class ManualClock implements StoreClock {
    /** After the server's own clock, so that native TTL deletes nothing that a test still counts on. */
    private static final long START = Duration.ofDays(50_000).toSeconds() * 1_000_000;

    private final AtomicLong micros = new AtomicLong(START);

    @Override
    public Reading now() {
        return new Reading(micros.get(), micros.get());
    }

    void advance(Duration span) {
        micros.addAndGet(Item.micros(span));
    }
}
