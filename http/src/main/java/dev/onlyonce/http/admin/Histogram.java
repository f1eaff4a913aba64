package dev.onlyonce.http.admin;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts durations in classes that are an eighth of a power of two wide, from a microsecond to hours. Thread-safe; takes about a
 * kibibyte.
 */
final class Histogram {
    private static final int SUB_BITS = 3;
    private static final int SUB = 1 << SUB_BITS;
    /** 2^35 microseconds are nine hours. */
    private static final int EXPONENT_MAX = 35;

    private static final int CLASSES = (EXPONENT_MAX - SUB_BITS + 2) * SUB;

    private final AtomicIntegerArray counts = new AtomicIntegerArray(CLASSES);

    void add(long nanos) {
        counts.incrementAndGet(classOf(Math.max(0, nanos / 1000)));
    }

    private static int classOf(long micros) {
        if (micros < SUB) {
            return (int) micros;
        }
        int exponent = 63 - Long.numberOfLeadingZeros(micros);
        if (exponent > EXPONENT_MAX) {
            return CLASSES - 1;
        }
        int sub = (int) (micros >>> (exponent - SUB_BITS)) & (SUB - 1);
        return (exponent - SUB_BITS + 1) * SUB + sub;
    }

    /** The upper end of a class, in milliseconds. */
    private static double millis(int index) {
        if (index < SUB) {
            return (index + 1) / 1000.0;
        }
        int shift = index / SUB - 1;
        return (((long) SUB + index % SUB + 1) << shift) / 1000.0;
    }

    /** Adds what another one has counted. Not atomic. */
    void add(Histogram other) {
        for (int i = 0; i < CLASSES; i++) {
            int more = other.counts.get(i);
            if (more != 0) {
                counts.addAndGet(i, more);
            }
        }
    }

    /** In milliseconds; null if nothing was counted. */
    @Nullable
    Double percentile(double share) {
        long total = 0;
        for (int i = 0; i < CLASSES; i++) {
            total += counts.get(i);
        }
        long rank = Math.max(1, (long) Math.ceil(total * share));
        long seen = 0;
        for (int i = 0; i < CLASSES && total > 0; i++) {
            seen += counts.get(i);
            if (seen >= rank) {
                return millis(i);
            }
        }
        return null;
    }
}
