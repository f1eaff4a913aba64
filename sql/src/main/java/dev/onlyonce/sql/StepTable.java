package dev.onlyonce.sql;

import dev.onlyonce.State;
import dev.onlyonce.store.EntryId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The statements on {@code onlyonce_step}. Nothing here begins or ends a transaction. */
final class StepTable {
    static final int STARTED = 1;
    static final int FINISHED = 2;
    static final int DOUBTED = 3;

    /** Locks the entry while it is this attempt's: nobody can take it over before the transaction ends. */
    private static final String FENCE = """
            SELECT created_at FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ? AND attempt = ? AND state = ?
            FOR UPDATE""";

    /** SQLite has no row locks: a write takes the lock that there is. */
    private static final String FENCE_SQLITE = """
            UPDATE onlyonce_entry SET attempt = attempt
            WHERE tenant = ? AND space = ? AND key_ = ? AND attempt = ? AND state = ?
            RETURNING created_at""";

    private static final String READ = """
            SELECT number, name, state, result FROM onlyonce_step
            WHERE tenant = ? AND space = ? AND key_ = ? AND entry_created_at = ?
            ORDER BY number""";

    private static final String DELETE = """
            DELETE FROM onlyonce_step
            WHERE tenant = ? AND space = ? AND key_ = ? AND entry_created_at = ? AND number = ?""";

    private static final String INSERT = """
            INSERT INTO onlyonce_step (tenant, space, key_, entry_created_at, number, name, state, result)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)""";

    private static final String DOUBT = """
            UPDATE onlyonce_step SET state = 3
            WHERE tenant = ? AND space = ? AND key_ = ? AND entry_created_at = ? AND state = 1""";

    private static final String FORGET = """
            DELETE FROM onlyonce_step
            WHERE tenant = ? AND space = ? AND key_ = ? AND entry_created_at = ?""";

    /** Steps of entries that have been answered, or are gone, or were started anew. */
    private static final String ORPHANS = """
            SELECT s.tenant, s.space, s.key_, s.entry_created_at
            FROM onlyonce_step s
            WHERE s.number = 1 AND NOT EXISTS (
                SELECT 1 FROM onlyonce_entry e
                WHERE e.tenant = s.tenant AND e.space = s.space AND e.key_ = s.key_
                  AND e.created_at = s.entry_created_at AND e.state IN (1, 2, 5, 6))
            LIMIT\s""";

    private final SqlDatabase kind;
    private final Columns columns;
    private final Sealing sealing;

    StepTable(SqlDatabase kind, Sealing sealing) {
        this.kind = kind;
        this.sealing = sealing;
        this.columns = Columns.of(kind);
    }

    /** Which entry, as it was made. */
    record Of(EntryId id, long createdAt) {}

    /** A step of an earlier attempt. */
    record Step(int number, String name, int state, byte @Nullable [] result) {

        /** What is sealed: a result cannot be taken for another step's. */
        String use() {
            return "step " + number + " " + name;
        }
    }

    boolean isConflict(SQLException e) {
        return SqlFailure.of(kind, e) == SqlFailure.CONFLICT;
    }

    /** Locks the entry and returns its created_at; empty if this attempt does not have it in this state any more. */
    Optional<Long> fence(Connection connection, EntryId id, int attempt, State state) throws SQLException {
        String sql = kind == SqlDatabase.SQLITE ? FENCE_SQLITE : FENCE;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, id);
            statement.setInt(4, attempt);
            statement.setInt(5, state.code());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(row.getLong(1)) : Optional.empty();
            }
        }
    }

    List<Step> read(Connection connection, Of of) throws SQLException {
        try (PreparedStatement statement = prepare(connection, READ, of);
                ResultSet row = statement.executeQuery()) {
            List<Step> steps = new ArrayList<>();
            while (row.next()) {
                steps.add(opened(of, new Step(row.getInt(1), columns.text(row, 2), row.getInt(3), row.getBytes(4))));
            }
            return steps;
        }
    }

    private Step opened(Of of, Step step) {
        return step.result == null
                ? step
                : new Step(step.number, step.name, step.state, sealing.open(of.id, step.use(), step.result));
    }

    /** Writes a step, over what stands there. */
    void write(Connection connection, Of of, Step step) throws SQLException {
        erase(connection, of, step.number);
        try (PreparedStatement statement = prepare(connection, INSERT, of)) {
            statement.setInt(5, step.number);
            columns.text(statement, 6, step.name);
            statement.setInt(7, step.state);
            if (step.result == null) {
                statement.setNull(8, Types.VARBINARY);
            } else {
                statement.setBytes(8, sealing.seal(of.id, step.use(), step.result));
            }
            statement.executeUpdate();
        }
    }

    void erase(Connection connection, Of of, int number) throws SQLException {
        try (PreparedStatement statement = prepare(connection, DELETE, of)) {
            statement.setInt(5, number);
            statement.executeUpdate();
        }
    }

    void doubt(Connection connection, Of of) throws SQLException {
        try (PreparedStatement statement = prepare(connection, DOUBT, of)) {
            statement.executeUpdate();
        }
    }

    void forget(Connection connection, Of of) throws SQLException {
        try (PreparedStatement statement = prepare(connection, FORGET, of)) {
            statement.executeUpdate();
        }
    }

    List<Of> orphans(Connection connection, int limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ORPHANS + limit);
                ResultSet row = statement.executeQuery()) {
            List<Of> orphans = new ArrayList<>();
            while (row.next()) {
                orphans.add(new Of(StoredEntry.id(row, 1, columns), row.getLong(4)));
            }
            return orphans;
        }
    }

    private PreparedStatement prepare(Connection connection, String sql, Of of) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        bind(statement, of.id);
        statement.setLong(4, of.createdAt);
        return statement;
    }

    private void bind(PreparedStatement statement, EntryId id) throws SQLException {
        columns.text(statement, 1, id.tenant());
        columns.text(statement, 2, id.space());
        columns.text(statement, 3, id.key());
    }
}
