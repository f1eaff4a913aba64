package dev.onlyonce.sql.entries;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
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
    static final String SWEEPER = "sweeper";
    static final String OVER = "its retention is over";

    /** The comments are for MySQL: see there. */
    static final String INSERT = """
            INSERT INTO onlyonce_audit (
                at, tenant, space, key_, operation, entry_created_at, made_by, attempt, from_state, to_state, who, why)
            VALUES /*each*/ (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) /*,*/""";

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

    /** With its settlement before it, if that has no row yet and the level asks for it. */
    static List<AuditRow> replaced(Subject before, ClaimRequest claim, long at, AuditLevel level) {
        AuditRow over = new AuditRow(before, before.attempt, null, before.state, null, at, claim.owner(), OVER);
        return Stream.concat(ended(List.of(before), level).stream(), Stream.of(over))
                .toList();
    }

    /** The rows of settlements that have none yet, for entries that end; none unless the level asks for them. */
    static List<AuditRow> ended(List<Subject> before, AuditLevel level) {
        return level == AuditLevel.ALL
                ? before.stream().flatMap(s -> s.settlement().stream()).toList()
                : List.of();
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

    /** With its settlement before it, if that has no row yet. */
    static List<AuditRow> evicted(Evicted evicted, String who, String why) {
        Entry entry = evicted.entry;
        Instant settledAt = entry.settledAt();
        Subject subject = new Subject(
                entry.id(),
                entry.operation(),
                StoredEntry.micros(entry.createdAt()),
                entry.attempt(),
                entry.state(),
                entry.owner(),
                settledAt == null ? 0 : StoredEntry.micros(settledAt),
                evicted.settledWhy);
        AuditRow eviction = new AuditRow(
                subject, entry.attempt(), null, entry.state(), null, StoredEntry.micros(entry.readAt()), who, why);
        return Stream.concat(subject.settlement().stream(), Stream.of(eviction)).toList();
    }

    /** An entry that an operator has deleted, and why it had been settled. */
    record Evicted(Entry entry, @Nullable String settledWhy) {
        /** Reads the columns of {@link StoredEntry#read}, and settled_why. */
        static Evicted read(ResultSet row, Columns columns) throws SQLException {
            return new Evicted(StoredEntry.read(row, columns), columns.textOrNull(row, 22));
        }
    }
}
