package dev.onlyonce.client.journal;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.ClientTime;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A journal in a table of the application's database. {@link #begin(Connection, JournaledCall)} writes a call in the
 * transaction that decides on it: they commit together or not at all. Everything else commits in a transaction of its own, so
 * give it the plain pool, not a {@code DataSource} that hands out the caller's transaction.
 */
public final class JdbcJournal implements Journal {
    private static final Duration KEEP = Duration.ofDays(30);
    private static final int PURGE_EVERY = 100;

    private static final String PROBE = """
            SELECT key_expires_at FROM onlyonce_client_call WHERE 1 = 0
            """;
    /** For a table that an earlier release has made. */
    private static final String ADD_EXPIRY = """
            ALTER TABLE onlyonce_client_call ADD COLUMN key_expires_at BIGINT
            """;

    private static final String FIND = """
            SELECT call_record, sent_at, key_expires_at, answer_record FROM onlyonce_client_call WHERE id_hash = ?
            """;
    private static final String COUNT = """
            SELECT COUNT(*) FROM onlyonce_client_call WHERE settled_at IS NULL
            """;
    private static final String PENDING = """
            SELECT id FROM onlyonce_client_call WHERE settled_at IS NULL ORDER BY created_at, id_hash LIMIT 10000
            """;
    private static final String SENDING = """
            UPDATE onlyonce_client_call SET sent_at = ?, settled_at = NULL, answer_record = NULL WHERE id_hash = ?
            """;
    private static final String EXPIRES = """
            UPDATE onlyonce_client_call SET key_expires_at = ? WHERE id_hash = ?
            """;
    private static final String SETTLE = """
            UPDATE onlyonce_client_call SET settled_at = ?, answer_record = ? WHERE id_hash = ? AND settled_at IS NULL
            """;
    private static final String FORGET = """
            DELETE FROM onlyonce_client_call WHERE id_hash = ?
            """;
    private static final String PURGE = """
            DELETE FROM onlyonce_client_call WHERE settled_at < ?
            """;

    private final Source source;
    private final Duration keep;
    private final ClientTime time;
    private final AtomicInteger settled = new AtomicInteger();

    /**
     * Connections of the data source.
     *
     * @param autoCommit whether they commit by themselves, as pools usually have it
     */
    private record Source(DataSource dataSource, JdbcDialect dialect, boolean autoCommit) {}

    private JdbcJournal(Source source, Duration keep, ClientTime time) {
        this.source = source;
        this.keep = keep;
        this.time = time;
    }

    /** Opens the journal of a database, and makes its table if it is not there. Answers are kept for 30 days. */
    public static JdbcJournal open(DataSource source) {
        return open(source, KEEP, ClientTime.system());
    }

    /**
     * Opens the journal of a database, and makes its table if it is not there.
     *
     * @param keep how long answers are kept. A call with an id whose answer is forgotten gets a new key
     */
    public static JdbcJournal open(DataSource source, Duration keep, ClientTime time) {
        try (Connection connection = source.getConnection()) {
            JdbcDialect dialect = JdbcDialect.of(connection);
            if (!isThere(connection)) {
                make(connection, dialect);
            }
            return new JdbcJournal(new Source(source, dialect, connection.getAutoCommit()), keep, time);
        } catch (SQLException e) {
            throw trouble(e);
        }
    }

    /** The user of an application may not be allowed to make tables, so it is asked for first. */
    private static boolean isThere(Connection connection) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(PROBE);
                ResultSet rows = query.executeQuery()) {
            return !rows.next();
        } catch (SQLException e) {
            rollback(connection);
            return false;
        }
    }

    private static void make(Connection connection, JdbcDialect dialect) throws SQLException {
        try {
            for (String sql : dialect.table()) {
                execute(connection, sql);
            }
            if (!isThere(connection)) {
                execute(connection, ADD_EXPIRY);
            }
        } catch (SQLException e) {
            rollback(connection);
            // Two processes that make it at the same time collide in some databases.
            if (!isThere(connection)) {
                throw e;
            }
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
        commit(connection);
    }

    @Override
    public Optional<JournaledCall> begin(JournaledCall call) {
        return own(connection -> begin(connection, call));
    }

    /**
     * Records a call, unless there is one with its id, in the caller's transaction. It does not commit. Send the call after
     * the commit, with {@link dev.onlyonce.client.RetryingClient#resume(String)}.
     *
     * @return empty if it was recorded, or the call that is there
     */
    public Optional<JournaledCall> begin(Connection connection, JournaledCall call) {
        try {
            checkRoom(connection);
            try (PreparedStatement insert = connection.prepareStatement(source.dialect.insert())) {
                insert.setString(1, hash(call.id()));
                insert.setString(2, call.id());
                insert.setLong(3, call.progress().createdAt().toEpochMilli());
                set(insert, 4, call.progress().sentAt());
                insert.setBytes(5, RecordCodec.encode(call));
                if (insert.executeUpdate() == 1) {
                    return Optional.empty();
                }
            } catch (SQLException e) {
                if (!source.dialect.isThere(e)) {
                    throw e;
                }
            }
            Optional<JournaledCall> earlier = find(connection, call.id());
            if (earlier.isEmpty()) {
                throw new JournalException("The call " + call.id()
                        + " was forgotten or rolled back just now; nothing was sent. Send it again");
            }
            return earlier;
        } catch (SQLException e) {
            throw trouble(e);
        }
    }

    private static void checkRoom(Connection connection) throws SQLException {
        try (PreparedStatement count = connection.prepareStatement(COUNT);
                ResultSet row = count.executeQuery()) {
            if (row.next() && row.getInt(1) >= OPEN_MAX) {
                throw new JournalException(OPEN_MAX
                        + " calls are open in the journal, which is the most. Resume them before you send more");
            }
        }
    }

    @Override
    public void sending(String id, Instant at) {
        setTime(SENDING, id, at);
    }

    @Override
    public void expires(String id, Instant keyExpiresAt) {
        setTime(EXPIRES, id, keyExpiresAt);
    }

    private void setTime(String sql, String id, Instant at) {
        own(connection -> {
            try (PreparedStatement update = connection.prepareStatement(sql)) {
                set(update, 1, at);
                update.setString(2, hash(id));
                return update.executeUpdate();
            }
        });
    }

    @Override
    public void settle(String id, CallResponse answer, Instant at) {
        own(connection -> {
            try (PreparedStatement update = connection.prepareStatement(SETTLE)) {
                set(update, 1, at);
                update.setBytes(2, RecordCodec.encode(answer));
                update.setString(3, hash(id));
                return update.executeUpdate();
            }
        });
        if (settled.incrementAndGet() % PURGE_EVERY == 0) {
            purge();
        }
    }

    private void purge() {
        own(connection -> {
            try (PreparedStatement delete = connection.prepareStatement(PURGE)) {
                set(delete, 1, time.now().minus(keep));
                return delete.executeUpdate();
            }
        });
    }

    @Override
    public Optional<JournaledCall> find(String id) {
        return own(connection -> find(connection, id));
    }

    private static Optional<JournaledCall> find(Connection connection, String id) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(FIND)) {
            query.setString(1, hash(id));
            try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                byte[] answer = row.getBytes(4);
                return Optional.of(RecordCodec.decode(
                        row.getBytes(1),
                        instant(row, 2),
                        instant(row, 3),
                        answer == null ? null : RecordCodec.decodeAnswer(answer)));
            }
        }
    }

    private static @Nullable Instant instant(ResultSet row, int column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    @Override
    public List<String> pending() {
        return own(connection -> {
            List<String> ids = new ArrayList<>();
            try (PreparedStatement query = connection.prepareStatement(PENDING);
                    ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    ids.add(row.getString(1));
                }
            }
            return ids;
        });
    }

    @Override
    public boolean forget(String id) {
        return own(connection -> {
            try (PreparedStatement delete = connection.prepareStatement(FORGET)) {
                delete.setString(1, hash(id));
                return delete.executeUpdate() == 1;
            }
        });
    }

    /** Leaves the data source open: it is the application's. */
    @Override
    public void close() {}

    private interface Work<T> {
        T with(Connection connection) throws SQLException;
    }

    /** In a transaction of its own. */
    private <T> T own(Work<T> work) {
        try (Connection connection = source.dataSource.getConnection()) {
            if (connection.getAutoCommit() != source.autoCommit) {
                throw new JournalException("The DataSource gave the journal the connection of a running transaction,"
                        + " which would be committed here. Give the journal the pool behind it; to write in your"
                        + " transaction, use begin(Connection, JournaledCall)");
            }
            T result = work.with(connection);
            commit(connection);
            return result;
        } catch (SQLException e) {
            throw trouble(e);
        } catch (UncheckedIOException e) {
            throw new JournalException(String.valueOf(e.getMessage()), e);
        }
    }

    /** A pool may hand out connections that do not commit by themselves. */
    private static void commit(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.commit();
        }
    }

    private static void rollback(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.rollback();
        }
    }

    private static void set(PreparedStatement statement, int parameter, @Nullable Instant at) throws SQLException {
        if (at == null) {
            statement.setNull(parameter, Types.BIGINT);
        } else {
            statement.setLong(parameter, at.toEpochMilli());
        }
    }

    /** Ids are compared byte by byte. Collations of databases ignore case, accents or spaces at the end. */
    private static String hash(String id) {
        return HexFormat.of().formatHex(CallBody.digest().digest(id.getBytes(StandardCharsets.UTF_8)));
    }

    private static JournalException trouble(SQLException e) {
        return new JournalException("The journal in the database cannot be used: " + e.getMessage(), e);
    }
}
