package dev.onlyonce.store;

import java.util.EnumMap;
import java.util.Map;

/**
 * How many entries are in each state. States without entries may be missing.
 *
 * @param entries by state
 * @param kind how far to trust the numbers. The count of unknown entries is {@link Kind#EXACT} or {@link Kind#AT_LEAST} in any case
 */
public record StateCounts(Map<State, Long> entries, Kind kind) {
    /** How far to trust a number. */
    public enum Kind {
        /** All entries were counted. */
        EXACT,
        /** Counting stopped at a bound. */
        AT_LEAST,
        /** From what the database knows about its table. */
        ESTIMATE
    }

    /** Copies the map. */
    public StateCounts {
        entries = Map.copyOf(entries);
    }

    /** How many are in this state. */
    public long of(State state) {
        return entries.getOrDefault(state, 0L);
    }

    /** How many there are in all states. */
    public long total() {
        return entries.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Estimates from a sample and the size of the table. Unknown entries are counted on an index of their own, so their number is not
     * estimated.
     */
    public static StateCounts scaled(Map<State, Long> sample, long total, long unknown) {
        long sampled = sample.entrySet().stream()
                .filter(it -> it.getKey() != State.UNKNOWN)
                .mapToLong(Map.Entry::getValue)
                .sum();
        long others = Math.max(0, total - unknown);
        Map<State, Long> scaled = new EnumMap<>(State.class);
        sample.forEach(
                (state, count) -> scaled.put(state, sampled == 0 ? 0 : Math.round((double) count * others / sampled)));
        scaled.put(State.UNKNOWN, unknown);
        return new StateCounts(scaled, Kind.ESTIMATE);
    }
}
