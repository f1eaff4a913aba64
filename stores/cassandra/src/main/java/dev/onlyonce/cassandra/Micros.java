package dev.onlyonce.cassandra;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Instants and durations as the tables have them. */
final class Micros {
    private static final long SECOND = 1_000_000;

    private Micros() {}

    static long of(Duration duration) {
        return Math.addExact(Math.multiplyExact(duration.getSeconds(), SECOND), duration.getNano() / 1000);
    }

    static long of(Instant instant) {
        return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), SECOND), instant.getNano() / 1000);
    }

    static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static @Nullable Instant optional(@Nullable Long micros) {
        return micros == null ? null : instant(micros);
    }

    /** In seconds, rounded up. */
    static long seconds(long micros) {
        return Math.floorDiv(micros + SECOND - 1, SECOND);
    }
}
