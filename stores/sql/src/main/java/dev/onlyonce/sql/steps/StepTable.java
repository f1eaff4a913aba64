package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.IdleBound;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.entries.Columns;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.StepPurge;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The statements on {@code onlyonce_step}. Nothing here begins or ends a transaction. */
final class StepTable {
    /** Its entry becomes unknown if its owner is lost: once it is claimed again, it is proven that it did not happen. */
    static final int STARTED = 1;

    static final int FINISHED = 2;

    private static final String HELD = """
            SELECT created_at FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ? AND token = ? AND state = 2""";

    /**
     * The fence, and what becomes of the entry if its owner is lost from here on. The new lease keeps out a sweep that has
     * read the entry as it was before.
     */
    private static final String FENCE = """
            UPDATE onlyonce_entry SET on_lease_lost = ?, lease_until = {now} + lease_us
            WHERE tenant = ? AND space = ? AND key_ = ? AND token = ? AND state = 2""";

    private static final String IN_DOUBT = """
            SELECT s.number, s.name, s.state, NULL
            FROM onlyonce_step s
            WHERE s.tenant = ? AND s.space = ? AND s.key_ = ? AND s.entry_created_at = ? AND s.state IN (1, 3)
            ORDER BY s.number""";

    private static final String FOUND = """
            UPDATE onlyonce_step SET state = 2, result = ?
            WHERE tenant = ? AND space = ? AND key_ = ? AND entry_created_at = ? AND number = ? AND state IN (1, 3)""";

    private static final String UNKNOWN = """
            SELECT 1 FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ? AND created_at = ? AND attempt = ? AND state = 6""";

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

    private static final String POSTGRES_BOUND = """
            SELECT set_config('onlyonce.lock_timeout', current_setting('lock_timeout'), true);
            SELECT set_config('lock_timeout', '2000', true)""";

    private static final String POSTGRES_RESTORE =
            "SELECT set_config('lock_timeout', current_setting('onlyonce.lock_timeout'), true)";

    private final SqlDialect database;
    private final Columns columns;
    private final Sealing sealing;
    private final StepPurge purge;
    private final String fence;

    StepTable(SqlDialect database, Sealing sealing) {
        this.database = database;
        this.sealing = sealing;
        this.columns = Columns.of(database.kind());
        this.purge = new StepPurge(database);
        this.fence = database.sql(FENCE + database.lasting());
    }

    /** Which entry, as it was made. */
    record Of(EntryId id, long createdAt) {}

    /** Who writes: one claim of an entry. */
    record Owner(EntryId id, UUID token) {}

    /** A step of an earlier attempt. */
    record Step(int number, String name, int state, byte @Nullable [] result) {

        /** The use that its result is sealed for: it cannot be taken for another step's. */
        String use() {
            return "step " + number + " " + name;
        }
    }

    /** Runs statements of ours in a transaction: they do not wait long for a locked table. */
    <T> T bounded(Connection transaction, Connections.Work<T> work) throws SQLException {
        return database.bounded(transaction, work);
    }

    /**
     * Bounds how long the transaction of a step may be idle while the application's code runs.
     *
     * @param heldMax as long as a claim may be held
     */
    void boundIdle(Connection connection, Duration heldMax) throws SQLException {
        if (database.kind() == SqlDatabase.POSTGRESQL) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT " + IdleBound.of("'" + heldMax.toMillis() + "ms'"));
            }
        }
    }

    /** As {@link #held}, before statements of the application: these wait as they did before. */
    Optional<Long> heldAtFirst(Connection connection, Owner owner) throws SQLException {
        if (database.kind() != SqlDatabase.POSTGRESQL) {
            return held(connection, owner);
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute(POSTGRES_BOUND);
            Optional<Long> held = held(connection, owner);
            statement.execute(POSTGRES_RESTORE);
            return held;
        }
    }

    boolean isConflict(SQLException e) {
        return SqlFailure.of(database.kind(), e) == SqlFailure.CONFLICT;
    }

    /** Whether a transaction that reads before it writes may find the database changed in between. */
    boolean locksWhole() {
        return database.kind() == SqlDatabase.SQLITE;
    }

    /** The created_at of the entry; empty if the claim is lost. */
    Optional<Long> held(Connection connection, Owner owner) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(HELD))) {
            bind(statement, 1, owner);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(row.getLong(1)) : Optional.empty();
            }
        }
    }

    /**
     * Locks the entry until the transaction ends; false if the claim is lost. Last in a transaction, so that the lock is
     * short: nobody's code runs under it.
     *
     * @param onLeaseLost what becomes of the entry if the owner is lost after this
     */
    boolean fence(Connection connection, Owner owner, OnLeaseLost onLeaseLost) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, fence)) {
            statement.setInt(1, onLeaseLost.code());
            bind(statement, 2, owner);
            return statement.executeUpdate() == 1;
        }
    }

    /** The steps that were started and not finished; only the last of them can be in doubt. */
    List<Step> inDoubt(Connection connection, Of of) throws SQLException {
        return read(connection, IN_DOUBT, of);
    }

    /**
     * Records the result of a step in doubt. False, and the transaction must be rolled back, if its entry is not unknown at
     * this attempt any more: from there on the step may be run again.
     */
    boolean found(Connection connection, Of of, int attempt, Step step) throws SQLException {
        byte[] result = step.result == null ? new byte[0] : step.result;
        try (PreparedStatement statement = database.prepare(connection, database.sql(FOUND))) {
            statement.setBytes(1, sealing.seal(of.id, step.use(), result));
            bind(statement, 2, of.id);
            statement.setLong(5, of.createdAt);
            statement.setInt(6, step.number);
            if (statement.executeUpdate() != 1) {
                return false;
            }
        }
        String lock = database.kind() == SqlDatabase.SQLITE ? "" : "\nFOR UPDATE";
        try (PreparedStatement statement = prepare(connection, UNKNOWN + lock, of)) {
            statement.setInt(5, attempt);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    List<Step> read(Connection connection, Of of) throws SQLException {
        return read(connection, READ, of);
    }

    private List<Step> read(Connection connection, String sql, Of of) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, of);
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

    void forget(Connection connection, Of of) throws SQLException {
        purge.remove(connection, of.id, of.createdAt);
    }

    private PreparedStatement prepare(Connection connection, String sql, Of of) throws SQLException {
        PreparedStatement statement = database.prepare(connection, database.sql(sql));
        bind(statement, 1, of.id);
        statement.setLong(4, of.createdAt);
        return statement;
    }

    private void bind(PreparedStatement statement, int first, Owner owner) throws SQLException {
        bind(statement, first, owner.id);
        columns.token(statement, first + 3, owner.token);
    }

    private void bind(PreparedStatement statement, int first, EntryId id) throws SQLException {
        columns.text(statement, first, id.tenant());
        columns.text(statement, first + 1, id.scope());
        columns.text(statement, first + 2, id.key());
    }
}
