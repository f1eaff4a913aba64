package dev.onlyonce.sql.outbox;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What has failed so far in one round of finishing rows. An interrupt, the caller's or a handler's, is put aside until the other
 * rows are done.
 */
final class FinishRound {
    /** This many rows in a row that cannot even be put off mean that the database is the trouble, and not the rows. */
    private static final int FAILURES_MAX = 2;

    /** After this many locked rows the others of a batch are not kept waiting by more. */
    private static final int WAITS_MAX = 3;

    private final List<TakenRow> rows = new ArrayList<>();
    private @Nullable StoreException cause;
    private int failures;
    private int waits;
    private boolean interrupted = Thread.interrupted();

    /** Rows that could not be ended because the database cannot now. */
    record Unfinished(List<TakenRow> rows, StoreException cause) {}

    void putInterruptAside() {
        interrupted |= Thread.interrupted();
    }

    void restoreInterrupt() {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    void failed(TakenRow row, StoreException e) {
        rows.add(row);
        cause = e;
        failures++;
    }

    /** The row or its entry is locked, which says nothing about the others. */
    void locked(TakenRow row, StoreBusy e) {
        waited();
        rows.add(row);
        cause = e;
    }

    /** The row is left for another round. */
    void left(TakenRow row) {
        rows.add(row);
    }

    void done() {
        failures = 0;
    }

    /** A commit has waited for a lock, for as long as it may. */
    void waited() {
        waits++;
    }

    boolean isPatient() {
        return waits < WAITS_MAX;
    }

    boolean isHopeless() {
        return failures >= FAILURES_MAX;
    }

    Optional<Unfinished> unfinished() {
        return cause == null ? Optional.empty() : Optional.of(new Unfinished(rows, cause));
    }
}
