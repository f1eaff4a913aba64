package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A change of state as MySQL, SQLite and H2 are given it, after they have said what they changed. PostgreSQL writes the same
 * rows in the statement that makes the change.
 *
 * @param attempt which the change concerns
 * @param madeBy who made the entry, if this row may be the first about it and somebody else did
 * @param at microseconds since 1970
 */
public record AuditRow(
        Subject subject,
        int attempt,
        @Nullable String madeBy,
        State from,
        @Nullable State to,
        long at,
        String who,
        String why) {
    static final String CLAIMED = "claimed";
    public static final String ACCEPTED = "accepted";
    /**
     * An entry, as far as the audit is concerned.
     *
     * @param settledWhy why its owner settled it, if that has no row yet
     */
    record Subject(
            EntryId id,
            String operation,
            long createdAt,
            int attempt,
            State state,
            String owner,
            long settledAt,
            @Nullable String settledWhy) {
        /**
         * Reads tenant, space, key_, operation, created_at, attempt, state, owner, settled_at and settled_why, in this order.
         */
        static Subject read(ResultSet row, int first, Columns columns) throws SQLException {
            return new Subject(
                    StoredEntry.id(row, first, columns),
                    columns.text(row, first + 3),
                    row.getLong(first + 4),
                    row.getInt(first + 5),
                    State.of(row.getInt(first + 6)),
                    columns.text(row, first + 7),
                    row.getLong(first + 8),
                    columns.textOrNull(row, first + 9));
        }

        /** Whether it is the record of its own settlement: there is no row of that. */
        boolean isOwnRecord() {
            return settledWhy != null && state.isAnswered();
        }

        /** The row of a settlement that has none yet, for whoever ends the entry. */
        Optional<AuditRow> settlement() {
            return settledWhy == null || !isOwnRecord()
                    ? Optional.empty()
                    : Optional.of(
                            new AuditRow(this, attempt, null, State.PROCESSING, state, settledAt, owner, settledWhy));
        }
    }

    static AuditRow settled(Subject after, Settlement settlement, Instant at) {
        return new AuditRow(
                after,
                after.attempt,
                null,
                State.PROCESSING,
                settlement.to(),
                StoredEntry.micros(at),
                after.owner,
                settlement.reason());
    }
}
