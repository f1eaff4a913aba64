package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Transition;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An entry whose row is locked, without its result, which no change looks at.
 *
 * @param settledWhy why its owner settled it, if that has no row in the audit yet
 */
record LockedEntry(Entry entry, @Nullable String settledWhy) {

    /**
     * Reads the columns of {@link StoredEntry#read}, and settled_why.
     *
     * @throws IllegalArgumentException if a value is one that this release does not know
     */
    static LockedEntry read(ResultSet row, Columns columns) throws SQLException {
        return new LockedEntry(StoredEntry.readForChange(row, columns), columns.textOrNull(row, 22));
    }

    StoreTime now() {
        return StoreTime.at(entry.readAt());
    }

    /** As the audit needs it. */
    AuditRow.Subject subject() {
        Instant settledAt = entry.settledAt();
        return new AuditRow.Subject(
                entry.id(),
                entry.operation(),
                StoredEntry.micros(entry.createdAt()),
                entry.attempt(),
                entry.state(),
                entry.owner(),
                settledAt == null ? 0 : StoredEntry.micros(settledAt),
                settledWhy);
    }

    /** A change of it as a row of the audit. Whose first change has no row of its own is named in the second. */
    AuditRow audit(Transition change, State from, Instant at) {
        boolean first = from == State.PENDING || (from == State.PROCESSING && entry.attempt() == 1);
        return new AuditRow(
                subject(),
                change.attempt(),
                first ? entry.owner() : null,
                from,
                change.to(),
                StoredEntry.micros(at),
                change.who(),
                change.why());
    }
}
