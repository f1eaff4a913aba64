package dev.onlyonce.benchmarks;

import java.util.Arrays;
import java.util.List;

/**
 * How long calls took.
 *
 * @param sorted every call's nanoseconds
 * @param tookNanos all of it
 * @param cpuNanos what this process and the servers that it started worked meanwhile
 */
record Measured(long[] sorted, long tookNanos, long cpuNanos) {

    static Measured of(List<long[]> parts, long tookNanos, long cpuNanos) {
        long[] all = new long[parts.stream().mapToInt(part -> part.length).sum()];
        int next = 0;
        for (long[] part : parts) {
            System.arraycopy(part, 0, all, next, part.length);
            next += part.length;
        }
        Arrays.sort(all);
        return new Measured(all, tookNanos, cpuNanos);
    }

    /** Several rounds as one. */
    static Measured together(List<Measured> rounds) {
        return of(
                rounds.stream().map(Measured::sorted).toList(),
                rounds.stream().mapToLong(Measured::tookNanos).sum(),
                rounds.stream().mapToLong(Measured::cpuNanos).sum());
    }

    double perSecond() {
        return sorted.length * 1e9 / tookNanos;
    }

    /** Microseconds of processor time for each call: it says more than the clock on a machine that others use too. */
    double cpuMicros() {
        return cpuNanos / 1e3 / sorted.length;
    }

    double millis(double quantile) {
        return sorted.length == 0 ? Double.NaN : sorted[(int) ((sorted.length - 1) * quantile)] / 1e6;
    }
}
