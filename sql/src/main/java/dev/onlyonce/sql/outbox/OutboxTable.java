package dev.onlyonce.sql.outbox;

import dev.onlyonce.Key;
import dev.onlyonce.Scope;
import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.sql.entries.ArrayParameters;
import dev.onlyonce.sql.entries.BoundedCount;
import dev.onlyonce.sql.entries.Columns;
import dev.onlyonce.sql.entries.Database;
import dev.onlyonce.sql.entries.Sealing;
import dev.onlyonce.sql.entries.StoredEntry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The statements on {@code onlyonce_outbox}. They are the same for all databases but for locking; {@code {now}} is the
 * database's clock. Nothing here begins or ends a transaction.
 */
final class OutboxTable {
    private static final int ERROR_LENGTH_MAX = 500;
    private static final Logger log = LoggerFactory.getLogger(OutboxTable.class);

    /** The entry's creation comes from the entry, so that both are equal and an entry made anew is told apart. */
    private static final String INSERT = """
            INSERT INTO onlyonce_outbox (tenant, space, key_, operation, entry_created_at, topic, payload, due_at)
            SELECT tenant, space, key_, operation, created_at, ?, ?, {now}
            FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ?""";

    private static final String COLUMNS = """
            SELECT id, tenant, space, key_, operation, entry_created_at, topic, payload, tries, first_sent_at,
                   provider_id, answer, refused, dead, last_error, {now}
            FROM onlyonce_outbox
            """;

    private static final String DUE = COLUMNS + """
            WHERE due_at <= {now} AND topic IN (?)
            ORDER BY due_at LIMIT {limit}""";

    private static final String TAKE = """
            UPDATE onlyonce_outbox
            SET token = ?, due_at = ?, first_sent_at = coalesce(first_sent_at, ?), tries = tries + 1
            WHERE {ids}""";

    /** What is locked is being finished, or operated on: it must not cost its neighbours their leases. */
    private static final String RENEWABLE = "SELECT id, token FROM onlyonce_outbox WHERE {ids}";

    private static final String RENEW = "UPDATE onlyonce_outbox SET due_at = {now} + ? WHERE {ids}";

    private static final String SENDING = """
            UPDATE onlyonce_outbox SET first_sent_at = ? WHERE id = ? AND token = ?""";

    private static final String RECORD = """
            UPDATE onlyonce_outbox SET provider_id = ?, answer = ?, refused = ? WHERE id = ? AND token = ?""";

    /** The same for many, where a statement tells which rows it changed. */
    private static final String RECORD_ALL = """
            UPDATE onlyonce_outbox o
            SET provider_id = a.provider_id, answer = a.answer, refused = a.refused
            FROM (SELECT unnest(?::bigint[]) AS id, unnest(?::uuid[]) AS token, unnest(?::text[]) AS provider_id,
                         unnest(?::bytea[]) AS answer, unnest(?::smallint[]) AS refused) AS a
            WHERE o.id = a.id AND o.token = a.token
            RETURNING o.id""";

    private static final String PUT_OFF = """
            UPDATE onlyonce_outbox
            SET token = NULL, due_at = {now} + ?, tries = ?, first_sent_at = ?, dead = ?, last_error = ?
            WHERE id = ? AND token = ?""";

    private static final String DELETE = "DELETE FROM onlyonce_outbox WHERE token = ? AND {ids}";

    private static final String LIST_DEAD = COLUMNS + """
            WHERE dead = 1 AND id > ? ORDER BY id LIMIT {limit}""";

    private static final String OLDEST = COLUMNS + """
            ORDER BY id LIMIT 1""";

    private static final String FIND = COLUMNS + """
            WHERE tenant = ? AND space = ? AND key_ = ? ORDER BY id""";

    /** A worker that has it keeps it: the provider's answer may be on its way. */
    private static final String RETRY = """
            UPDATE onlyonce_outbox
            SET dead = 0, tries = 0, due_at = CASE WHEN token IS NULL THEN {now} ELSE due_at END
            WHERE id = ? AND dead = 1""";

    private static final String DROP = "DELETE FROM onlyonce_outbox WHERE id = ? AND dead = 1";

    private static final String BOUND_POSTGRES = """
            SELECT set_config('lock_timeout', '{wait}', true), set_config('statement_timeout', '10000', true)""";

    /** In seconds; 0 is not to wait at all, which MySQL makes 1. */
    private static final String BOUND_MYSQL = """
            SET @onlyonce_lock_wait = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = {wait}""";

    private static final String UNBOUND_MYSQL = "SET SESSION innodb_lock_wait_timeout = @onlyonce_lock_wait";

    /** What is sealed here. */
    private static final String ANSWER = "answer";

    private final SqlDatabase kind;
    private final Columns columns;
    private final Sealing sealing;
    private final String now;

    OutboxTable(Database database, Sealing sealing) {
        this.kind = database.kind();
        this.columns = Columns.of(kind);
        this.sealing = sealing;
        // A scalar subquery is computed once, so that PostgreSQL can compare an index with it.
        this.now = "(SELECT " + database.clock() + ")";
    }

    /**
     * A row as it was when it was taken.
     *
     * @param entryAt the created_at of its entry
     * @param firstSentAt as stored before it was taken; null if no call was made
     * @param answer the provider's recorded answer, if there is one
     * @param takenAt the database's clock
     */
    record Stored(
            OutboxRow row,
            EntryId entry,
            long entryAt,
            @Nullable Long firstSentAt,
            @Nullable Delivery answer,
            long takenAt) {}

    /**
     * How a row goes on.
     *
     * @param delayUs when it is due again, from now; negative: never, it is deleted
     * @param firstSentAt null if it is proven that no call had an effect
     */
    record Fate(
            long delayUs,
            int tries,
            @Nullable Long firstSentAt,
            boolean dead,
            @Nullable String error) {
        static final Fate DELETED = new Fate(-1, 0, null, false, null);

        boolean isDeleted() {
            return delayUs < 0;
        }
    }

    int insert(Connection connection, EntryId id, String topic, byte[] payload) throws SQLException {
        try (PreparedStatement statement = prepare(connection, INSERT)) {
            columns.text(statement, 1, topic);
            statement.setBytes(2, payload);
            bindId(statement, 3, id);
            return statement.executeUpdate();
        }
    }

    /** Takes due rows, in a transaction. */
    List<Stored> take(Connection connection, List<String> topics, UUID token, long leaseUs, int limit)
            throws SQLException {
        String sql = DUE.replace("(?)", marks(topics.size())).replace("{limit}", String.valueOf(limit))
                + (kind == SqlDatabase.SQLITE ? "" : "\nFOR UPDATE SKIP LOCKED");
        List<Stored> taken;
        try (PreparedStatement statement = prepare(connection, sql)) {
            for (int i = 0; i < topics.size(); i++) {
                columns.text(statement, i + 1, topics.get(i));
            }
            taken = read(statement);
        }
        if (!taken.isEmpty()) {
            long takenAt = taken.get(0).takenAt;
            List<Long> ids = taken.stream().map(stored -> stored.row.id()).toList();
            try (PreparedStatement statement = prepare(connection, withIds(TAKE, ids))) {
                columns.token(statement, 1, token);
                statement.setLong(2, takenAt + leaseUs);
                statement.setLong(3, takenAt);
                bindIds(statement, 4, ids);
                statement.executeUpdate();
            }
        }
        return taken;
    }

    /** Returns for each whether it was renewed: those are not that are lost, or locked just now. */
    List<Boolean> renew(Connection connection, List<TakenRow> rows, long leaseUs) throws SQLException {
        Map<Long, UUID> tokens = new HashMap<>();
        rows.forEach(held -> tokens.put(held.stored().row.id(), held.token()));
        List<Long> free = new ArrayList<>();
        List<Long> ids = List.copyOf(tokens.keySet());
        String lock = kind == SqlDatabase.SQLITE ? "" : "\nFOR UPDATE SKIP LOCKED";
        try (PreparedStatement statement = prepare(connection, withIds(RENEWABLE, ids) + lock)) {
            bindIds(statement, 1, ids);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (Objects.equals(columns.token(row, 2), tokens.get(row.getLong(1)))) {
                        free.add(row.getLong(1));
                    }
                }
            }
        }
        if (!free.isEmpty()) {
            try (PreparedStatement statement = prepare(connection, withIds(RENEW, free))) {
                statement.setLong(1, leaseUs);
                bindIds(statement, 2, free);
                statement.executeUpdate();
            }
        }
        Set<Long> renewed = Set.copyOf(free);
        return rows.stream()
                .map(held -> renewed.contains(held.stored().row.id()))
                .toList();
    }

    /**
     * Runs work that calls handlers, and bounds how long their statements wait for a lock: they run on a thread that other
     * rows wait for. On PostgreSQL also how long they run; SQLite has its busy time-out.
     *
     * @param patient whether a second is not too long: many locked rows must not cost a second each
     */
    <T> T bounded(Connection connection, boolean patient, Calls.Work<T> work) throws SQLException {
        if (kind == SqlDatabase.SQLITE) {
            return work.run(connection);
        }
        try (Statement statement = connection.createStatement()) {
            if (kind == SqlDatabase.POSTGRESQL) {
                statement.execute(BOUND_POSTGRES.replace("{wait}", patient ? "1000" : "20"));
                return work.run(connection);
            }
            statement.execute(BOUND_MYSQL.replace("{wait}", patient ? "1" : "0"));
            try {
                return work.run(connection);
            } finally {
                // It is the session's, and the connection goes back to the application's pool.
                unbound(statement);
            }
        }
    }

    private static void unbound(Statement statement) {
        try {
            statement.execute(UNBOUND_MYSQL);
        } catch (SQLException e) {
            log.debug("A lost connection keeps its settings", e);
        }
    }

    /** A call is about to be made for the first time after it was proven that none had an effect. */
    List<Boolean> sending(Connection connection, List<TakenRow> rows) throws SQLException {
        return each(connection, SENDING, rows, (statement, held) -> {
            statement.setLong(1, held.stored().takenAt);
            bindHeld(statement, 2, held);
        });
    }

    /** Records providers' answers. Returns for each whether it was still held. */
    List<Boolean> record(Connection connection, List<TakenRow> rows) throws SQLException {
        List<Answer> answers = rows.stream().map(this::answer).toList();
        return kind == SqlDatabase.POSTGRESQL
                ? recordAll(connection, answers)
                : each(connection, RECORD, answers, (statement, answer) -> {
                    text(statement, 1, answer.providerId);
                    statement.setBytes(2, answer.sealed);
                    statement.setInt(3, answer.refused);
                    bindHeld(statement, 4, answer.held);
                });
    }

    /** What is recorded of an answer. */
    private record Answer(TakenRow held, @Nullable String providerId, byte[] sealed, int refused) {
        long id() {
            return held.stored().row.id();
        }
    }

    private Answer answer(TakenRow held) {
        EntryId entry = held.stored().entry;
        if (held.delivery() instanceof Delivery.Refused refused) {
            return new Answer(held, refused.providerId(), sealing.seal(entry, ANSWER, refused.result()), 1);
        }
        Delivery.Delivered delivered = (Delivery.Delivered) held.delivery();
        return new Answer(held, delivered.providerId(), sealing.seal(entry, ANSWER, delivered.result()), 0);
    }

    private List<Boolean> recordAll(Connection connection, List<Answer> answers) throws SQLException {
        Set<Long> recorded = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(RECORD_ALL)) {
            new ArrayParameters<>(answers)
                    .longs(Answer::id)
                    .tokens(answer -> answer.held.token())
                    .texts(Answer::providerId)
                    .bytes(Answer::sealed)
                    .shorts(Answer::refused)
                    .bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    recorded.add(row.getLong(1));
                }
            }
        }
        return answers.stream().map(answer -> recorded.contains(answer.id())).toList();
    }

    /** A row and how it goes on. */
    record End(TakenRow held, Fate fate) {}

    /** Deletes and puts off. Returns whether all of them were still held. */
    boolean end(Connection connection, List<End> ends) throws SQLException {
        Map<UUID, List<Long>> deleted = new LinkedHashMap<>();
        List<End> kept = new ArrayList<>();
        for (End end : ends) {
            if (end.fate.isDeleted()) {
                deleted.computeIfAbsent(end.held.token(), token -> new ArrayList<>())
                        .add(end.held.stored().row.id());
            } else {
                kept.add(end);
            }
        }
        List<Boolean> putOff = each(connection, PUT_OFF, kept, (statement, end) -> {
            statement.setLong(1, end.fate.delayUs);
            statement.setInt(2, end.fate.tries);
            number(statement, 3, end.fate.firstSentAt);
            statement.setInt(4, end.fate.dead ? 1 : 0);
            text(statement, 5, shortened(end.fate.error));
            bindHeld(statement, 6, end.held);
        });
        boolean held = !putOff.contains(false);
        for (Map.Entry<UUID, List<Long>> taken : deleted.entrySet()) {
            held &= delete(connection, taken.getKey(), taken.getValue());
        }
        return held;
    }

    private boolean delete(Connection connection, UUID token, List<Long> ids) throws SQLException {
        try (PreparedStatement statement = prepare(connection, withIds(DELETE, ids))) {
            columns.token(statement, 1, token);
            bindIds(statement, 2, ids);
            return statement.executeUpdate() == ids.size();
        }
    }

    Outbox.Backlog backlog(Connection connection, int max) throws SQLException {
        try (PreparedStatement statement = prepare(connection, OLDEST)) {
            return new Outbox.Backlog(
                    BoundedCount.waiting(connection, max),
                    BoundedCount.deadLetters(connection, max),
                    read(statement).stream()
                            .map(oldest -> oldest.row().acceptedAt())
                            .findFirst());
        }
    }

    List<OutboxRow> listDead(Connection connection, long after, int limit) throws SQLException {
        try (PreparedStatement statement = prepare(connection, LIST_DEAD.replace("{limit}", String.valueOf(limit)))) {
            statement.setLong(1, after);
            return read(statement).stream().map(Stored::row).toList();
        }
    }

    List<Stored> find(Connection connection, EntryId id) throws SQLException {
        try (PreparedStatement statement = prepare(connection, FIND)) {
            bindId(statement, 1, id);
            return read(statement);
        }
    }

    boolean retry(Connection connection, long id) throws SQLException {
        return change(connection, RETRY, id);
    }

    boolean drop(Connection connection, long id) throws SQLException {
        return change(connection, DROP, id);
    }

    private boolean change(Connection connection, String sql, long id) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql)) {
            statement.setLong(1, id);
            return statement.executeUpdate() == 1;
        }
    }

    private List<Stored> read(PreparedStatement statement) throws SQLException {
        List<Stored> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                rows.add(stored(row));
            }
        }
        return rows;
    }

    private Stored stored(ResultSet row) throws SQLException {
        EntryId id = StoredEntry.id(row, 2, columns);
        Key key = new Key(
                id.tenant(), columns.text(row, 5), id.key(), id.space().isEmpty() ? Scope.TENANT : Scope.OPERATION);
        long firstSent = row.getLong(10);
        Long firstSentAt = row.wasNull() ? null : firstSent;
        String providerId = textOrNull(row, 11);
        byte[] answer = row.getBytes(12);
        Delivery delivery = answer == null ? null : answer(id, providerId, answer, row.getInt(13) == 1);
        OutboxRow told = new OutboxRow(
                row.getLong(1),
                key,
                columns.text(row, 7),
                row.getBytes(8),
                row.getInt(9),
                StoredEntry.instant(row.getLong(6)),
                firstSentAt == null ? null : StoredEntry.instant(firstSentAt),
                providerId,
                row.getInt(14) == 1,
                textOrNull(row, 15));
        return new Stored(told, id, row.getLong(6), firstSentAt, delivery, row.getLong(16));
    }

    /** An answer that cannot be opened says no more than that there was one. */
    private Delivery answer(EntryId id, @Nullable String providerId, byte[] stored, boolean refused) {
        try {
            byte[] answer = sealing.open(id, ANSWER, stored);
            return refused ? new Delivery.Refused(providerId, answer) : new Delivery.Delivered(providerId, answer);
        } catch (StoreUnavailable e) {
            return new Delivery.Ambiguous("the recorded answer cannot be read: " + e.getMessage());
        }
    }

    @FunctionalInterface
    private interface Bind<T> {
        void bind(PreparedStatement statement, T item) throws SQLException;
    }

    /** Runs a statement for each; PostgreSQL's driver sends them together. Others may not tell what each one changed. */
    private <T> List<Boolean> each(Connection connection, String sql, List<T> items, Bind<T> bind) throws SQLException {
        List<Boolean> changed = new ArrayList<>(items.size());
        if (items.isEmpty()) {
            return changed;
        }
        try (PreparedStatement statement = prepare(connection, sql)) {
            for (T item : items) {
                bind.bind(statement, item);
                if (kind == SqlDatabase.POSTGRESQL) {
                    statement.addBatch();
                } else {
                    changed.add(statement.executeUpdate() == 1);
                }
            }
            if (kind == SqlDatabase.POSTGRESQL) {
                for (int count : statement.executeBatch()) {
                    changed.add(count == 1);
                }
            }
        }
        return changed;
    }

    private PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql.replace("{now}", now));
    }

    /** PostgreSQL takes any number of ids as one array, so that the statement is planned once. */
    private String withIds(String sql, List<Long> ids) {
        return sql.replace("{ids}", kind == SqlDatabase.POSTGRESQL ? "id = ANY (?)" : "id IN " + marks(ids.size()));
    }

    private void bindIds(PreparedStatement statement, int first, List<Long> ids) throws SQLException {
        if (kind == SqlDatabase.POSTGRESQL) {
            statement.setArray(first, statement.getConnection().createArrayOf("bigint", ids.toArray()));
            return;
        }
        for (int i = 0; i < ids.size(); i++) {
            statement.setLong(first + i, ids.get(i));
        }
    }

    private void bindId(PreparedStatement statement, int first, EntryId id) throws SQLException {
        columns.text(statement, first, id.tenant());
        columns.text(statement, first + 1, id.space());
        columns.text(statement, first + 2, id.key());
    }

    private void bindHeld(PreparedStatement statement, int first, TakenRow held) throws SQLException {
        statement.setLong(first, held.stored().row.id());
        columns.token(statement, first + 1, held.token());
    }

    private void text(PreparedStatement statement, int parameter, @Nullable String text) throws SQLException {
        if (text == null) {
            statement.setNull(parameter, kind == SqlDatabase.MYSQL ? Types.VARBINARY : Types.VARCHAR);
        } else {
            columns.text(statement, parameter, text);
        }
    }

    private static void number(PreparedStatement statement, int parameter, @Nullable Long number) throws SQLException {
        if (number == null) {
            statement.setNull(parameter, Types.BIGINT);
        } else {
            statement.setLong(parameter, number);
        }
    }

    private @Nullable String textOrNull(ResultSet row, int column) throws SQLException {
        return row.getBytes(column) == null ? null : columns.text(row, column);
    }

    private static @Nullable String shortened(@Nullable String error) {
        String clean = error == null ? null : error.replace('\0', ' ');
        return clean == null || clean.length() <= ERROR_LENGTH_MAX ? clean : clean.substring(0, ERROR_LENGTH_MAX);
    }

    private static String marks(int count) {
        return "(" + "?, ".repeat(count - 1) + "?)";
    }
}
