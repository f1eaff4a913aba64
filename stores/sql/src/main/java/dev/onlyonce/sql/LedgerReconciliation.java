package dev.onlyonce.sql;

import java.util.Iterator;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares what was recorded here with the provider's ledger for a period. Both come as streams sorted by id, in the order of
 * {@link String#compareTo}, and are read once, side by side, so that any number of lines needs no memory.
 */
public final class LedgerReconciliation {
    private LedgerReconciliation() {}

    /**
     * One line of a ledger.
     *
     * @param id what both sides call it: the downstream key, or the provider's id
     * @param amount in the smallest unit
     * @param status as both sides spell it
     */
    public record Line(String id, long amount, String status) {}

    /** What does not agree. */
    public sealed interface Difference {
        /** Recorded here, unknown to the provider; or recorded here twice. */
        record Missing(Line local) implements Difference {}

        /** In the provider's ledger, not recorded here; or there twice. */
        record Extra(Line provider) implements Difference {}

        /** On both sides, with another amount or status. */
        record Different(Line local, Line provider) implements Difference {}
    }

    /** How many lines agreed, and how many did not. */
    public record Summary(long equal, long missing, long extra, long different) {
        /** Whether nothing was found. */
        public boolean isClean() {
            return missing == 0 && extra == 0 && different == 0;
        }
    }

    /**
     * Compares.
     *
     * @param found receives each difference, in the order of ids
     * @throws IllegalArgumentException if a side is not sorted; differences reported before that do not count
     */
    public static Summary compare(Iterator<Line> local, Iterator<Line> provider, Consumer<Difference> found) {
        long equal = 0;
        long missing = 0;
        long extra = 0;
        long different = 0;
        Line ours = next(local, null);
        Line theirs = next(provider, null);
        while (ours != null || theirs != null) {
            int order = ours == null ? 1 : theirs == null ? -1 : ours.id.compareTo(theirs.id);
            if (order < 0 && ours != null) {
                missing++;
                found.accept(new Difference.Missing(ours));
            } else if (order > 0 && theirs != null) {
                extra++;
                found.accept(new Difference.Extra(theirs));
            } else if (ours != null && ours.equals(theirs)) {
                equal++;
            } else if (ours != null && theirs != null) {
                different++;
                found.accept(new Difference.Different(ours, theirs));
            }
            ours = order <= 0 && ours != null ? next(local, ours) : ours;
            theirs = order >= 0 && theirs != null ? next(provider, theirs) : theirs;
        }
        return new Summary(equal, missing, extra, different);
    }

    private static @Nullable Line next(Iterator<Line> lines, @Nullable Line before) {
        if (!lines.hasNext()) {
            return null;
        }
        Line line = lines.next();
        if (before != null && before.id.compareTo(line.id) > 0) {
            throw new IllegalArgumentException("not sorted: " + line.id + " comes after " + before.id);
        }
        return line;
    }
}
