package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/** Runs the statements of H2. */
final class H2Queries {
    static final Columns COLUMNS = Columns.BYTES;

    static final int DUPLICATE_KEY = 23505;
    static final int LOCK_TIMEOUT = 50200;

    /** What to do about rows that somebody else has locked: go around them. */
    static final UnaryOperator<String> SKIP = sql -> sql;
    /** What to do about rows that somebody else has locked: wait, as long as {@link H2LockTimeout} says. */
    static final UnaryOperator<String> WAIT = sql -> sql.replace(H2Statements.SKIP, "");

    private static final long PAUSE_MIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long PAUSE_MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final StatementTexts texts;

    H2Queries(StatementTexts texts) {
        this.texts = texts;
    }

    <R> List<R> all(Connection connection, String sql, Binding parameters, RowReader<R> reader) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters);
                ResultSet row = statement.executeQuery()) {
            List<R> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(reader.read(row));
            }
            return rows;
        }
    }

    <R> Optional<R> one(Connection connection, String sql, Binding parameters, RowReader<R> reader)
            throws SQLException {
        return all(connection, sql, parameters, reader).stream().findFirst();
    }

    int change(Connection connection, String sql, Binding parameters) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters)) {
            return statement.executeUpdate();
        }
    }

    private PreparedStatement prepare(Connection connection, String sql, Binding parameters) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(texts.of(sql));
        try {
            parameters.bind(statement, 1);
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    /** Makes those entries that are absent; returns their attempts. */
    Map<EntryId, Integer> insert(Connection connection, List<ClaimRequest> claims, long waitMillis)
            throws SQLException {
        return H2LockTimeout.run(connection, 0, c -> {
            Map<EntryId, Integer> inserted = new HashMap<>();
            for (ClaimRequest claim : claims) {
                insert(c, claim, waitMillis).ifPresent(attempt -> inserted.put(claim.id(), attempt));
            }
            return inserted;
        });
    }

    /**
     * Makes a new entry; empty if there is one already. The transaction goes on: H2 undoes the statement alone. While
     * somebody else is making the same entry, H2 tries again without a pause until its lock time-out, which costs a
     * processor. So that is none, and the pauses are here.
     */
    private Optional<Integer> insert(Connection connection, ClaimRequest claim, long waitMillis) throws SQLException {
        long begun = System.nanoTime();
        long pause = PAUSE_MIN_NANOS;
        while (true) {
            try {
                change(connection, H2Statements.INSERT, RowParameters.of(COLUMNS, claim));
                return Optional.of(claim.start() == State.PROCESSING ? 1 : 0);
            } catch (SQLException e) {
                if (e.getErrorCode() == DUPLICATE_KEY) {
                    return Optional.empty();
                }
                boolean over = System.nanoTime() - begun >= TimeUnit.MILLISECONDS.toNanos(waitMillis);
                if (e.getErrorCode() != LOCK_TIMEOUT || over) {
                    throw e;
                }
            }
            LockSupport.parkNanos(pause);
            pause = Math.min(2 * pause, PAUSE_MAX_NANOS);
        }
    }

    static Binding of(EntryId id) {
        return RowParameters.of(COLUMNS, id);
    }

    static Entry entry(ResultSet row) throws SQLException {
        return StoredEntry.read(row, COLUMNS);
    }

    static int attempt(ResultSet row) throws SQLException {
        return row.getInt(1);
    }
}
