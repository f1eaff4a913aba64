package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads and purges {@code onlyonce_audit}; {@code {now}} is the database's clock. Who changes an entry writes to it.
 *
 * <p>Two changes have no row of their own, so that an ordinary life costs none while its entry stands:
 *
 * <ul>
 *   <li>The first change of an entry, from nothing to pending or processing. It is on the entry itself until the next change,
 *       whose row carries it on. Readers see two records.
 *   <li>An ordinary settlement: its owner completed or failed the entry within its lease. The entry keeps the reason in
 *       {@code settled_why} and is the record. Whoever ends the entry writes the row; see {@link AuditRow.Subject#settlement}.
 * </ul>
 */
public final class AuditTable {
    /** Whether no worker took the entry from pending: then its first attempt is its first change. */
    static final String NOT_TAKEN = """
            NOT EXISTS (
                SELECT 1 FROM onlyonce_audit t
                WHERE t.tenant = e.tenant AND t.space = e.space AND t.key_ = e.key_
                  AND t.entry_created_at = e.created_at AND t.from_state = 1 AND t.to_state = 2)""";

    /**
     * The last column tells whether the row is the first about its entry: it ends the state that the entry was made in. A
     * first attempt that a worker took from a pending entry has a row before it.
     */
    static final String COLUMNS = """
            SELECT a.id, a.at, a.tenant, a.space, a.key_, a.operation, a.entry_created_at, a.made_by, a.attempt,
                   a.from_state, a.to_state, a.who, a.why,
                   CASE WHEN a.from_state = a.to_state THEN 0
                        WHEN a.from_state = 1 THEN 1
                        WHEN a.from_state = 2 AND a.attempt = 1 AND NOT EXISTS (
                            SELECT 1 FROM onlyonce_audit t
                            WHERE t.tenant = a.tenant AND t.space = a.space AND t.key_ = a.key_
                              AND t.entry_created_at = a.entry_created_at AND t.from_state = 1 AND t.to_state = 2)
                        THEN 1 ELSE 0 END AS is_first
            FROM onlyonce_audit a
            """;

    /**
     * The same columns of a settlement whose entry is its record. The number is -1 minus the highest id of a row of the same
     * instant: rows up to that id come before it, and a row that is written later, for this settlement too, comes after it.
     */
    static final String SETTLEMENT = """
            SELECT -1 - COALESCE((SELECT max(t.id) FROM onlyonce_audit t WHERE t.at = e.settled_at), 0), e.settled_at,
                   e.tenant, e.space, e.key_, e.operation, e.created_at, e.owner, e.attempt, 2, e.state, e.owner,
                   e.settled_why, CASE WHEN e.attempt = 1 AND\s""" + NOT_TAKEN + """
             THEN 1 ELSE 0 END
            """;

    /**
     * The rows, the first change of an entry that has had no other, and a settlement that has no row; one statement, so that no
     * change is missed.
     */
    private static final String HISTORY =
            "SELECT * FROM (\n" + COLUMNS + """
            WHERE a.tenant = ? AND a.space = ? AND a.key_ = ?
            ORDER BY a.id DESC LIMIT ?) AS recorded
            UNION ALL
            SELECT 0, e.created_at, e.tenant, e.space, e.key_, e.operation, e.created_at, e.owner, e.attempt,
                   e.state, e.state, e.owner, e.owner, 2
            FROM onlyonce_entry e
            WHERE e.tenant = ? AND e.space = ? AND e.key_ = ?
              AND (e.state = 1 OR e.state = 2 AND e.attempt = 1 AND\s""" + NOT_TAKEN + ")\nUNION ALL\n" + SETTLEMENT + """
            FROM onlyonce_entry e
            WHERE e.tenant = ? AND e.space = ? AND e.key_ = ? AND e.settled_why IS NOT NULL AND e.state IN (3, 4)""";

    /** Where the leases of the next entries end: how far a listing has to look. */
    private static final String LEASE_END = """
            SELECT lease_until FROM onlyonce_entry WHERE lease_until >= ? ORDER BY lease_until LIMIT 1 OFFSET ?""";

    /** How many leases a listing looks at first; four times as many whenever that was not enough for a page. */
    private static final int LEASES_FIRST = 10_000;

    private static final int FIRST = 1;
    private static final int ONLY = 2;

    private static final String PURGE = """
            DELETE FROM onlyonce_audit WHERE (at, id) IN (
                SELECT at, id FROM onlyonce_audit WHERE at <= {now} - ? ORDER BY at, id LIMIT ?)""";

    /** Several nodes share the work. */
    private static final String PURGE_POSTGRES = """
            DELETE FROM onlyonce_audit WHERE (at, id) IN (
                SELECT at, id FROM onlyonce_audit WHERE at <= {now} - ? ORDER BY at, id LIMIT ?
                FOR UPDATE SKIP LOCKED)""";

    /** MySQL takes no limit in a subquery, but one here. */
    private static final String PURGE_MYSQL = """
            DELETE FROM onlyonce_audit WHERE at <= {now} - ? ORDER BY at LIMIT ?""";

    /** H2 would read the whole table for two columns; the index of times is in order. */
    private static final String PURGE_H2 = """
            DELETE FROM onlyonce_audit WHERE at <= {now} - ? FETCH FIRST ? ROWS ONLY""";

    /** An operator's change of an outbox row leaves the entry as it is, and is recorded all the same. */
    private static final String OPERATED = """
            INSERT INTO onlyonce_audit (
                at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)
            SELECT {now}, o.tenant, o.space, o.key_, o.operation, o.entry_created_at, COALESCE(e.attempt, 0),
                   e.state, e.state, ?, ?
            FROM onlyonce_outbox o
            LEFT JOIN onlyonce_entry e ON e.tenant = o.tenant AND e.space = o.space AND e.key_ = o.key_
                AND e.created_at = o.entry_created_at
            WHERE o.id = ?""";

    private final SqlDialect database;
    private final Columns columns;
    private final int leasesFirst;

    public AuditTable(SqlDialect database) {
        this(database, LEASES_FIRST);
    }

    /** With another number of leases that a listing looks at first: for tests. */
    AuditTable(SqlDialect database, int leasesFirst) {
        this.database = database;
        this.columns = Columns.of(database.kind());
        this.leasesFirst = leasesFirst;
    }

    public List<AuditRecord> history(Connection connection, EntryId id) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(HISTORY))) {
            Binding key = RowParameters.of(columns, id);
            key.then(Binding.longs(AuditQuery.LIMIT_MAX)).then(key).then(key).bind(statement, 1);
            List<Row> rows = read(statement);
            rows.sort(Comparator.comparing((Row row) -> row.number <= 0).thenComparing(row -> row.number));
            return records(rows);
        }
    }

    /**
     * Lists records in the order of time; of one instant, rows before settlements that have none. When an ordinary settlement
     * gets its row between two pages, because its entry ends, it is listed again if the page before ended at the same instant.
     *
     * <ol>
     *   <li>Settlements have no index by time. But an ordinary one happens within its lease and at most {@link
     *       AuditListing#LEASE_MAX} before its end, so those of a span are found in the index of leases.
     *   <li>A listing reads as far as the end of the next 10,000 leases, and further until the page is full. However many
     *       leases end at the same time, and however long ago the last one was, it reads no more than a few times of what it needs.
     * </ol>
     */
    public List<AuditRecord> list(Connection connection, AuditQuery query) throws SQLException {
        return database.bounded(connection, c -> page(c, query));
    }

    private List<AuditRecord> page(Connection connection, AuditQuery query) throws SQLException {
        for (long leases = leasesFirst; ; leases *= 4) {
            AuditListing listing = new AuditListing(query, database.kind());
            OptionalLong end = leaseEnd(connection, listing.from(), leases);
            List<Row> page = List.of();
            if (listing.upTo(end)) {
                try (PreparedStatement statement = connection.prepareStatement(database.sql(listing.sql()))) {
                    listing.bind(statement, 1);
                    page = read(statement);
                }
                page.sort(Comparator.comparing(Row::at)
                        .thenComparing(row -> row.number < 0)
                        .thenComparing(row -> row.number < 0 ? 0 : row.number)
                        .thenComparing(row -> row.change.id()));
            }
            if (page.size() >= query.limit() || end.isEmpty()) {
                return records(page.subList(0, Math.min(page.size(), query.limit())));
            }
        }
    }

    private OptionalLong leaseEnd(Connection connection, long from, long leases) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(database.sql(LEASE_END))) {
            Binding.longs(from, leases).bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    private static String purge(SqlDatabase kind) {
        return switch (kind) {
            case POSTGRESQL -> PURGE_POSTGRES;
            case MYSQL -> PURGE_MYSQL;
            case SQLITE -> PURGE;
            case H2 -> PURGE_H2;
        };
    }

    /** The statements, with a name for each; that of a listing varies with the query. */
    static Map<String, String> all(SqlDatabase kind) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("audit: history", HISTORY);
        all.put("audit: purge", purge(kind));
        all.put("audit: change of an outbox row", OPERATED);
        return all;
    }

    public int purge(Connection connection, long retentionUs, int limit) throws SQLException {
        String sql = purge(database.kind());
        try (PreparedStatement statement = database.prepare(connection, database.sql(sql))) {
            statement.setLong(1, retentionUs);
            statement.setInt(2, limit);
            return statement.executeUpdate();
        }
    }

    /** Records what an operator is about to do to an outbox row, in the same transaction. */
    public void operated(Connection connection, long outboxId, String who, String why) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(OPERATED))) {
            columns.text(statement, 1, who);
            columns.text(statement, 2, why);
            statement.setLong(3, outboxId);
            statement.executeUpdate();
        }
    }

    /** A row as it is stored. */
    private record Row(long number, Transition change, Instant at, Instant madeAt, String madeBy, int first) {}

    private List<Row> read(PreparedStatement statement) throws SQLException {
        List<Row> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String who = columns.text(row, 12);
                Transition change = new Transition(
                        StoredEntry.id(row, 3, columns),
                        columns.text(row, 6),
                        state(row, 10),
                        state(row, 11),
                        row.getInt(9),
                        who,
                        columns.text(row, 13));
                Instant at = StoredEntry.instant(row.getLong(2));
                Instant madeAt = StoredEntry.instant(row.getLong(7));
                String madeBy = row.getBytes(8) == null ? who : columns.text(row, 8);
                rows.add(new Row(row.getLong(1), change, at, madeAt, madeBy, row.getInt(14)));
            }
        }
        return rows;
    }

    private static @Nullable State state(ResultSet row, int column) throws SQLException {
        int code = row.getInt(column);
        return row.wasNull() ? null : State.of(code);
    }

    private static List<AuditRecord> records(List<Row> rows) {
        List<AuditRecord> records = new ArrayList<>();
        for (Row row : rows) {
            if (row.first == FIRST || row.first == ONLY) {
                records.add(new AuditRecord(row.number, made(row), row.madeAt));
            }
            if (row.first != ONLY) {
                records.add(new AuditRecord(row.number, row.change, row.at));
            }
        }
        return records;
    }

    private static Transition made(Row row) {
        Transition change = row.change;
        boolean accepted = change.from() == State.PENDING;
        return new Transition(
                change.id(),
                change.operation(),
                null,
                change.from(),
                accepted ? 0 : 1,
                row.madeBy,
                accepted ? AuditRow.ACCEPTED : AuditRow.CLAIMED);
    }
}
