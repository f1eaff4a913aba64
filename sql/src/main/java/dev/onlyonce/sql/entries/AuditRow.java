package dev.onlyonce.sql.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A change of state as MySQL and SQLite are given it, after they have said what they changed. PostgreSQL writes the same
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
    static final String SWEEPER = "sweeper";
    static final String OVER = "its retention is over";

    /** The comments are for MySQL: see there. */
    static final String INSERT = """
            INSERT INTO onlyonce_audit (
                at, tenant, space, key_, operation, entry_created_at, made_by, attempt, from_state, to_state, who, why)
            VALUES /*each*/ (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) /*,*/""";

    /** An entry, as far as the audit is concerned. */
    record Subject(EntryId id, String operation, long createdAt, int attempt, State state, String owner) {

        /** Reads tenant, space, key_, operation, created_at, attempt, state and owner, in this order. */
        static Subject read(ResultSet row, int first, Columns columns) throws SQLException {
            return new Subject(
                    StoredEntry.id(row, first, columns),
                    columns.text(row, first + 3),
                    row.getLong(first + 4),
                    row.getInt(first + 5),
                    State.of(row.getInt(first + 6)),
                    columns.text(row, first + 7));
        }

        /** Whether its last change was its first one: that is recorded together with the next. */
        private @Nullable String maker() {
            return state == State.PENDING || (state == State.PROCESSING && attempt == 1) ? owner : null;
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

    static AuditRow taken(Subject before, ClaimRequest claim, long at) {
        return new AuditRow(
                before, before.attempt + 1, before.maker(), before.state, State.PROCESSING, at, claim.owner(), CLAIMED);
    }

    static AuditRow replaced(Subject before, ClaimRequest claim, long at) {
        return new AuditRow(before, before.attempt, null, before.state, null, at, claim.owner(), OVER);
    }

    static AuditRow swept(Subject before, Database.Lapsed lapsed, long at) {
        return new AuditRow(
                before, before.attempt, before.maker(), lapsed.from(), lapsed.to(), at, SWEEPER, lapsed.why());
    }

    static AuditRow resolved(Subject after, Resolution resolution, Instant at) {
        return new AuditRow(
                after,
                after.attempt,
                null,
                State.UNKNOWN,
                resolution.to(),
                StoredEntry.micros(at),
                resolution.who(),
                resolution.reason());
    }

    static AuditRow evicted(Entry entry, String who, String why) {
        Subject subject = new Subject(
                entry.id(),
                entry.operation(),
                StoredEntry.micros(entry.createdAt()),
                entry.attempt(),
                entry.state(),
                entry.owner());
        return new AuditRow(
                subject, entry.attempt(), null, entry.state(), null, StoredEntry.micros(entry.readAt()), who, why);
    }
}
