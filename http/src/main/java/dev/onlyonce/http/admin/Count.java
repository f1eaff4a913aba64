package dev.onlyonce.http.admin;

import dev.onlyonce.store.StateCounts;
import java.util.Locale;

/**
 * A number of things.
 *
 * @param kind {@code exact}, {@code atLeast} or {@code estimate}
 */
public record Count(long count, String kind) {
    static Count exact(long count) {
        return new Count(count, "exact");
    }

    /** Exact below the bound at which counting stops. */
    static Count bounded(long count, long max) {
        return new Count(count, count < max ? "exact" : "atLeast");
    }

    static Count of(long count, StateCounts.Kind kind) {
        return new Count(
                count,
                switch (kind) {
                    case EXACT -> "exact";
                    case AT_LEAST -> "atLeast";
                    case ESTIMATE -> "estimate";
                });
    }

    /** For people. */
    @Override
    public String toString() {
        return switch (kind) {
            case "atLeast" -> count + " or more";
            case "estimate" -> "about " + count;
            default -> String.format(Locale.ROOT, "%d", count);
        };
    }
}
