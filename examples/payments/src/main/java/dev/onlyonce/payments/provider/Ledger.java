package dev.onlyonce.payments.provider;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the provider really did, in a file of its own: every movement is a row, also the second one under the same key, so it
 * is the truth that others are measured by. One connection, used by one thread at a time.
 */
final class Ledger implements AutoCloseable {
    private static final String SCHEMA = """
            CREATE TABLE IF NOT EXISTS movement (
              position        INTEGER PRIMARY KEY AUTOINCREMENT,
              id              TEXT NOT NULL UNIQUE,
              kind            TEXT NOT NULL,
              status          TEXT NOT NULL,
              amount          INTEGER NOT NULL,
              currency        TEXT NOT NULL,
              reference       TEXT NOT NULL,
              charge_id       TEXT,
              idempotency_key TEXT,
              created_at      INTEGER NOT NULL
            );
            CREATE INDEX IF NOT EXISTS movement_by_key ON movement (idempotency_key, kind);
            CREATE INDEX IF NOT EXISTS movement_by_charge ON movement (charge_id);
            CREATE INDEX IF NOT EXISTS movement_by_time ON movement (created_at);
            CREATE TABLE IF NOT EXISTS answer (
              kind            TEXT NOT NULL,
              idempotency_key TEXT NOT NULL,
              movement_id     TEXT NOT NULL,
              request         TEXT NOT NULL,
              created_at      INTEGER NOT NULL,
              PRIMARY KEY (kind, idempotency_key)
            ) WITHOUT ROWID;
            """;

    private static final String COLUMNS =
            "id, kind, status, amount, currency, reference, charge_id, idempotency_key, created_at";

    private final Connection connection;

    /** What a call came to. */
    sealed interface Made {
        /** It was made now. */
        record Now(Movement movement) implements Made {}

        /** It had been made before, under the same key. */
        record Before(Movement movement) implements Made {}

        /** The key belongs to another request. */
        record OtherRequest() implements Made {}
    }

    private Ledger(Connection connection) {
        this.connection = connection;
    }

    static Ledger open(Path file) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        try (Statement statement = connection.createStatement()) {
            // Survives the end of the process at any moment, which is what can happen to a simulation.
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("PRAGMA synchronous = NORMAL");
            statement.executeUpdate(SCHEMA);
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        return new Ledger(connection);
    }

    /**
     * Makes a movement, unless its key was seen within the lifetime.
     *
     * @param movement what to make; its id is set here
     * @param request what must be the same when the key comes again
     * @param keyLifetime how long keys are honoured; zero: not at all
     */
    synchronized Made make(Movement movement, String request, Duration keyLifetime) throws SQLException {
        String key = movement.idempotencyKey();
        boolean honoured = key != null && !keyLifetime.isZero();
        connection.setAutoCommit(false);
        try {
            if (honoured) {
                Made before = before(movement, request, movement.createdAt() - keyLifetime.toMillis());
                if (before != null) {
                    return before;
                }
            }
            Movement made = insert(movement);
            if (honoured) {
                remember(made, request);
            }
            connection.commit();
            return new Made.Now(made);
        } finally {
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private @Nullable Made before(Movement movement, String request, long since) throws SQLException {
        String sql =
                "SELECT movement_id, request FROM answer WHERE kind = ? AND idempotency_key = ? AND created_at > ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, movement.kind());
            statement.setString(2, movement.idempotencyKey());
            statement.setLong(3, since);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) {
                    return null;
                }
                if (!rows.getString(2).equals(request)) {
                    return new Made.OtherRequest();
                }
                return new Made.Before(find(rows.getString(1)).orElseThrow());
            }
        }
    }

    private Movement insert(Movement movement) throws SQLException {
        String id = (movement.kind().equals("charge") ? "ch_" : "re_") + UUID.randomUUID();
        String sql = "INSERT INTO movement (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, id);
            statement.setString(2, movement.kind());
            statement.setString(3, movement.status());
            statement.setLong(4, movement.amount());
            statement.setString(5, movement.currency());
            statement.setString(6, movement.reference());
            statement.setString(7, movement.chargeId());
            statement.setString(8, movement.idempotencyKey());
            statement.setLong(9, movement.createdAt());
            statement.executeUpdate();
        }
        return find(id).orElseThrow();
    }

    private void remember(Movement made, String request) throws SQLException {
        String sql = "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, made.kind());
            statement.setString(2, made.idempotencyKey());
            statement.setString(3, made.id());
            statement.setString(4, request);
            statement.setLong(5, made.createdAt());
            statement.executeUpdate();
        }
    }

    synchronized Optional<Movement> find(String id) throws SQLException {
        return query("WHERE id = ?", id).stream().findFirst();
    }

    /** All movements of a kind under a key: more than one, if the key was not honoured. */
    synchronized List<Movement> byKey(String kind, String key) throws SQLException {
        return query("WHERE kind = ? AND idempotency_key = ? ORDER BY position", kind, key);
    }

    /** How much of a charge was refunded. */
    synchronized long refunded(String chargeId) throws SQLException {
        return query("WHERE charge_id = ? AND kind = 'refund' AND status = 'succeeded'", chargeId).stream()
                .mapToLong(Movement::amount)
                .sum();
    }

    /** Movements made in a period (to: exclusive), in order, after the one with the given id. */
    synchronized List<Movement> period(long from, long to, String after, int limit) throws SQLException {
        return query(
                "WHERE created_at >= ? AND created_at < ? AND position >"
                        + " COALESCE((SELECT m.position FROM movement m WHERE m.id = ?), 0) ORDER BY position LIMIT ?",
                from,
                to,
                after,
                limit);
    }

    private List<Movement> query(String where, Object... parameters) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT " + COLUMNS + " FROM movement " + where)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<Movement> movements = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    movements.add(new Movement(
                            row.getString(1),
                            row.getString(2),
                            row.getString(3),
                            row.getLong(4),
                            row.getString(5),
                            row.getString(6),
                            row.getString(7),
                            row.getString(8),
                            row.getLong(9)));
                }
            }
            return movements;
        }
    }

    @Override
    public synchronized void close() throws SQLException {
        connection.close();
    }
}
