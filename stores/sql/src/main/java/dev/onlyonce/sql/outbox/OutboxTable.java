package dev.onlyonce.sql.outbox;

import dev.onlyonce.Key;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.entries.ArrayParameters;
import dev.onlyonce.sql.internal.entries.BoundedCount;
import dev.onlyonce.sql.internal.entries.Columns;
import dev.onlyonce.sql.internal.entries.EachRow;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code onlyonce_outbox}, by the database's {@link OutboxStatements}. Nothing here begins or ends a transaction. */
final class OutboxTable {
    private static final int ERROR_LENGTH_MAX = 500;
    private static final byte[] NOT_READ = {};
    /** The use that answers are sealed for. */
    private static final String ANSWER = "answer";

    private final SqlDialect database;
    private final SqlDatabase kind;
    private final OutboxStatements statements;
    private final Columns columns;
    private final Sealing sealing;

    OutboxTable(SqlDialect database, Sealing sealing) {
        this.database = database;
        this.kind = database.kind();
        this.statements = OutboxStatements.of(kind);
        this.columns = Columns.of(kind);
        this.sealing = sealing;
    }

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

    int insert(Connection connection, EntryId id, OutboxCall call) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(statements.insert()))) {
            columns.text(statement, 1, call.topic());
            statement.setBytes(2, call.payload());
            text(statement, 3, call.orderKey());
            statement.setInt(4, call.lasting() ? 1 : 0);
            bindId(statement, 5, id);
            return statement.executeUpdate();
        }
    }

    /** Returns for each whether it was renewed: those are not that are lost, or locked just now. */
    List<Boolean> renew(Connection connection, List<TakenRow> rows, long leaseUs) throws SQLException {
        Map<Long, UUID> tokens = new HashMap<>();
        rows.forEach(held -> tokens.put(held.stored().row().id(), held.token()));
        List<Long> free = new ArrayList<>();
        List<Long> ids = List.copyOf(tokens.keySet());
        try (PreparedStatement statement = database.prepare(connection, forEach(statements.renewable(), ids))) {
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
            try (PreparedStatement statement = database.prepare(connection, forEach(statements.renew(), free))) {
                statement.setLong(1, leaseUs);
                bindIds(statement, 2, free);
                statement.executeUpdate();
            }
        }
        Set<Long> renewed = Set.copyOf(free);
        return rows.stream()
                .map(held -> renewed.contains(held.stored().row().id()))
                .toList();
    }

    /** A call is about to be made for the first time after it was proven that none had an effect. */
    List<Boolean> sending(Connection connection, List<TakenRow> rows) throws SQLException {
        return each(connection, statements.sending(), rows, (statement, held) -> {
            statement.setLong(1, held.stored().takenAt());
            bindHeld(statement, 2, held);
        });
    }

    /** Records providers' answers. Returns for each whether it was still held. */
    List<Boolean> record(Connection connection, List<TakenRow> rows) throws SQLException {
        List<Answer> answers = rows.stream().map(this::answer).toList();
        return kind == SqlDatabase.POSTGRESQL
                ? recordAll(connection, answers)
                : each(connection, statements.record(), answers, (statement, answer) -> {
                    text(statement, 1, answer.providerId);
                    statement.setBytes(2, answer.sealed);
                    statement.setInt(3, answer.refused);
                    bindHeld(statement, 4, answer.held);
                });
    }

    /** An answer as it is recorded. */
    private record Answer(TakenRow held, @Nullable String providerId, byte[] sealed, int refused) {
        long id() {
            return held.stored().row().id();
        }
    }

    private Answer answer(TakenRow held) {
        EntryId entry = held.stored().entry();
        if (held.delivery() instanceof Delivery.Refused refused) {
            return new Answer(held, refused.providerId(), sealing.seal(entry, ANSWER, refused.result()), 1);
        }
        Delivery.Delivered delivered = (Delivery.Delivered) held.delivery();
        return new Answer(held, delivered.providerId(), sealing.seal(entry, ANSWER, delivered.result()), 0);
    }

    private List<Boolean> recordAll(Connection connection, List<Answer> answers) throws SQLException {
        Set<Long> recorded = new HashSet<>();
        try (PreparedStatement statement = database.prepare(connection, database.sql(statements.record()))) {
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
                        .add(end.held.stored().row().id());
            } else {
                kept.add(end);
            }
        }
        List<Boolean> putOff = each(connection, statements.putOff(), kept, (statement, end) -> {
            statement.setInt(1, end.fate.tries);
            number(statement, 2, end.fate.firstSentAt);
            statement.setInt(3, end.fate.dead ? 1 : 0);
            text(statement, 4, shortened(end.fate.error));
            statement.setLong(5, end.fate.delayUs);
            bindHeld(statement, 6, end.held);
        });
        boolean held = !putOff.contains(false);
        for (Map.Entry<UUID, List<Long>> taken : deleted.entrySet()) {
            held &= delete(connection, taken.getKey(), taken.getValue());
        }
        return held;
    }

    private boolean delete(Connection connection, UUID token, List<Long> ids) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, forEach(statements.delete(), ids))) {
            columns.token(statement, 1, token);
            bindIds(statement, 2, ids);
            return statement.executeUpdate() == ids.size();
        }
    }

    /** Ids grow, so the first row is the oldest; the primary key finds it. */
    private static final String OLDEST = "SELECT entry_created_at FROM onlyonce_outbox ORDER BY id LIMIT 1";

    Outbox.Backlog backlog(Connection connection, int max) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(OLDEST));
                ResultSet oldest = statement.executeQuery()) {
            Optional<Instant> oldestAt =
                    oldest.next() ? Optional.of(StoredEntry.instant(oldest.getLong(1))) : Optional.empty();
            return new Outbox.Backlog(
                    BoundedCount.waiting(connection, database, max),
                    BoundedCount.deadLetters(connection, database, max),
                    oldestAt);
        }
    }

    List<OutboxRow> listDead(Connection connection, long after, int limit) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, limited(statements.listDead(), limit))) {
            statement.setLong(1, after);
            return read(statement).stream().map(StoredRow::row).toList();
        }
    }

    List<StoredRow> find(Connection connection, EntryId id) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(statements.find()))) {
            bindId(statement, 1, id);
            return read(statement);
        }
    }

    boolean retry(Connection connection, long id) throws SQLException {
        return change(connection, statements.retry(), id);
    }

    boolean drop(Connection connection, long id) throws SQLException {
        return change(connection, statements.drop(), id);
    }

    private boolean change(Connection connection, String sql, long id) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(sql))) {
            statement.setLong(1, id);
            return statement.executeUpdate() == 1;
        }
    }

    List<StoredRow> read(PreparedStatement statement) throws SQLException {
        List<StoredRow> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                rows.add(stored(row));
            }
        }
        return rows;
    }

    private StoredRow stored(ResultSet row) throws SQLException {
        EntryId id = StoredEntry.id(row, 2, columns);
        Key key = Key.of(id, columns.text(row, 5));
        long firstSent = row.getLong(10);
        Long firstSentAt = row.wasNull() ? null : firstSent;
        String providerId = textOrNull(row, 11);
        byte[] payload = row.getBytes(8);
        byte[] answer = row.getBytes(12);
        Delivery delivery = answer == null ? null : answer(id, providerId, answer, row.getInt(13) == 1);
        OutboxRow told = new OutboxRow(
                row.getLong(1),
                key,
                columns.text(row, 7),
                payload == null ? NOT_READ : payload,
                row.getInt(9),
                StoredEntry.instant(row.getLong(6)),
                firstSentAt == null ? null : StoredEntry.instant(firstSentAt),
                providerId,
                row.getInt(14) == 1,
                textOrNull(row, 15),
                textOrNull(row, 16));
        return new StoredRow(told, id, row.getLong(6), firstSentAt, delivery, row.getInt(17) == 1, row.getLong(18));
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
        try (PreparedStatement statement = database.prepare(connection, database.sql(sql))) {
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

    String limited(String statement, int limit) {
        return database.sql(statement).replace(OutboxStatements.LIMIT, String.valueOf(limit));
    }

    /** PostgreSQL takes all ids as one array. */
    String forEach(String statement, List<Long> ids) {
        String sql = database.sql(statement);
        return kind == SqlDatabase.POSTGRESQL ? sql : EachRow.repeat(sql, ids.size());
    }

    void bindIds(PreparedStatement statement, int first, List<Long> ids) throws SQLException {
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
        columns.text(statement, first + 1, id.scope());
        columns.text(statement, first + 2, id.key());
    }

    private void bindHeld(PreparedStatement statement, int first, TakenRow held) throws SQLException {
        statement.setLong(first, held.stored().row().id());
        columns.token(statement, first + 1, held.token());
    }

    private void text(PreparedStatement statement, int parameter, @Nullable String text) throws SQLException {
        if (text == null) {
            statement.setNull(parameter, columns == Columns.BYTES ? Types.VARBINARY : Types.VARCHAR);
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
}
