package dev.onlyonce.client.journal;

import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import dev.onlyonce.client.JournaledCall.Progress;
import dev.onlyonce.client.JournaledCall.Sent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a journal. Each change is one conditional statement, so that two senders agree without a lock:
 *
 * <ol>
 *   <li>Of those that begin an id, one inserts the row.
 *   <li>Who sends counts itself first. A sender that was alone at the end knows that nobody else has caused an effect.
 *   <li>A refusal by somebody who may not know is written only if there was one sender; a done answer replaces every refusal.
 * </ol>
 */
final class CallTable {
    private static final String PROBE = """
            SELECT senders FROM onlyonce_client_call WHERE 1 = 0
            """;
    private static final String FIND = """
            SELECT id, created_at, sent_at, seen_at, senders, key_expires_at, idempotency_key, request_head, request_body,
                request_file, checksum, answer_head, answer_body
            FROM onlyonce_client_call WHERE id_hash = ?
            """;
    private static final String COUNT = """
            SELECT COUNT(*) FROM onlyonce_client_call WHERE settled_at IS NULL
            """;
    private static final String PENDING = """
            SELECT id FROM onlyonce_client_call WHERE settled_at IS NULL ORDER BY created_at, id_hash LIMIT 10000
            """;
    /** MySQL assigns from left to right, so what is asked for is changed last. */
    private static final String SENDING = """
            UPDATE onlyonce_client_call
            SET senders = CASE WHEN settled_at IS NULL THEN senders + 1 ELSE 1 END,
                sent_at = COALESCE(sent_at, ?),
                seen_at = CASE WHEN seen_at > ? THEN seen_at ELSE ? END,
                answer_head = NULL, answer_body = NULL, settled_at = NULL
            WHERE id_hash = ? AND (settled_at IS NULL OR is_done = 0)
            """;

    private static final String EXPIRES = """
            UPDATE onlyonce_client_call SET key_expires_at = ? WHERE id_hash = ?
            """;
    private static final String DONE = """
            UPDATE onlyonce_client_call SET settled_at = ?, answer_head = ?, answer_body = ?, is_done = 1
            WHERE id_hash = ? AND (settled_at IS NULL OR is_done = 0)
            """;
    private static final String REFUSED = """
            UPDATE onlyonce_client_call SET settled_at = ?, answer_head = ?, answer_body = ?, is_done = 0
            WHERE id_hash = ? AND settled_at IS NULL
            """;
    private static final String REFUSED_UNPROVEN = """
            UPDATE onlyonce_client_call SET settled_at = ?, answer_head = ?, answer_body = ?, is_done = 0
            WHERE id_hash = ? AND settled_at IS NULL AND senders = 1
            """;
    private static final String FORGET = """
            DELETE FROM onlyonce_client_call WHERE id_hash = ?
            """;
    private static final String PURGE = """
            DELETE FROM onlyonce_client_call WHERE settled_at < ?
            """;

    private final JdbcDialect dialect;

    CallTable(JdbcDialect dialect) {
        this.dialect = dialect;
    }

    /** Fails if the table is not there, or is not this one. */
    static void probe(Connection connection) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(PROBE);
                ResultSet rows = query.executeQuery()) {
            boolean none = !rows.next();
            assert none;
        }
    }

    Optional<JournaledCall> begin(Connection connection, JournaledCall call) throws SQLException {
        checkRoom(connection);
        if (insert(connection, call)) {
            return Optional.empty();
        }
        Optional<JournaledCall> earlier = find(connection, call.id());
        if (earlier.isEmpty()) {
            throw new JournalException("The call " + call.id()
                    + " was forgotten or rolled back just now; nothing was sent. Send it again");
        }
        return earlier;
    }

    private boolean insert(Connection connection, JournaledCall call) throws SQLException {
        CallColumns.Request request = CallColumns.Request.of(call.request());
        Sent sent = call.progress().sent();
        try (PreparedStatement insert = connection.prepareStatement(dialect.insert())) {
            insert.setString(1, CallColumns.hash(call.id()));
            insert.setString(2, call.id());
            insert.setLong(3, call.progress().createdAt().toEpochMilli());
            set(insert, 4, sent == null ? null : sent.first());
            set(insert, 5, sent == null ? null : sent.latest());
            insert.setInt(6, sent == null ? 0 : sent.senders());
            insert.setString(7, call.key());
            insert.setBytes(8, request.head());
            insert.setBytes(9, request.body());
            insert.setBytes(10, request.file());
            insert.setString(11, request.checksum(call.id(), call.key()));
            return insert.executeUpdate() == 1;
        } catch (SQLException e) {
            if (!dialect.isThere(e)) {
                throw e;
            }
            return false;
        }
    }

    private static void checkRoom(Connection connection) throws SQLException {
        try (PreparedStatement count = connection.prepareStatement(COUNT);
                ResultSet row = count.executeQuery()) {
            if (row.next() && row.getInt(1) >= Journal.OPEN_MAX) {
                throw new JournalException(Journal.OPEN_MAX
                        + " calls are open in the journal, which is the most. Resume them before you send more");
            }
        }
    }

    static Optional<JournaledCall> sending(Connection connection, String id, Instant at) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(SENDING)) {
            set(update, 1, at);
            set(update, 2, at);
            set(update, 3, at);
            update.setString(4, CallColumns.hash(id));
            int changed = update.executeUpdate();
            assert changed <= 1;
        }
        return find(connection, id);
    }

    static int expires(Connection connection, String id, Instant keyExpiresAt) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(EXPIRES)) {
            set(update, 1, keyExpiresAt);
            update.setString(2, CallColumns.hash(id));
            return update.executeUpdate();
        }
    }

    static boolean settle(Connection connection, String id, Settlement settlement) throws SQLException {
        String sql = switch (settlement.verdict) {
            case DONE -> DONE;
            case REFUSED -> REFUSED;
            case REFUSED_UNPROVEN -> REFUSED_UNPROVEN;
        };
        CallColumns.Answer answer = CallColumns.Answer.of(settlement.answer);
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            set(update, 1, settlement.at);
            update.setBytes(2, answer.head());
            update.setBytes(3, answer.body());
            update.setString(4, CallColumns.hash(id));
            return update.executeUpdate() == 1;
        }
    }

    /** An answer, and what it proves. */
    record Settlement(CallResponse answer, Journal.Verdict verdict, Instant at) {}

    static int purge(Connection connection, Instant settledBefore) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement(PURGE)) {
            set(delete, 1, settledBefore);
            return delete.executeUpdate();
        }
    }

    static boolean forget(Connection connection, String id) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement(FORGET)) {
            delete.setString(1, CallColumns.hash(id));
            return delete.executeUpdate() == 1;
        }
    }

    static List<String> pending(Connection connection) throws SQLException {
        List<String> ids = new ArrayList<>();
        try (PreparedStatement query = connection.prepareStatement(PENDING);
                ResultSet row = query.executeQuery()) {
            while (row.next()) {
                ids.add(row.getString(1));
            }
        }
        return ids;
    }

    static Optional<JournaledCall> find(Connection connection, String id) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(FIND)) {
            query.setString(1, CallColumns.hash(id));
            try (ResultSet row = query.executeQuery()) {
                return row.next() ? Optional.of(call(row, id)) : Optional.empty();
            }
        }
    }

    private static JournaledCall call(ResultSet row, String id) throws SQLException {
        String key = row.getString("idempotency_key");
        CallColumns.Request request = new CallColumns.Request(
                row.getBytes("request_head"), row.getBytes("request_body"), row.getBytes("request_file"));
        CallColumns.check(id, request.checksum(row.getString("id"), key), row.getString("checksum"));
        Instant first = instant(row, "sent_at");
        Instant latest = instant(row, "seen_at");
        byte[] head = row.getBytes("answer_head");
        CallResponse answer =
                head == null ? null : new CallColumns.Answer(head, row.getBytes("answer_body")).response();
        return new JournaledCall(
                id,
                key,
                request.request(),
                new Progress(
                        Instant.ofEpochMilli(row.getLong("created_at")),
                        first == null || latest == null ? null : new Sent(first, latest, row.getInt("senders")),
                        instant(row, "key_expires_at"),
                        answer));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    private static void set(PreparedStatement statement, int parameter, @Nullable Instant at) throws SQLException {
        if (at == null) {
            statement.setNull(parameter, Types.BIGINT);
        } else {
            statement.setLong(parameter, at.toEpochMilli());
        }
    }
}
