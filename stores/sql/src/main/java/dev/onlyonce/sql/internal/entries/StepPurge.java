package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.store.EntryId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Removes the steps of entries. Most are removed when their operation completes; a purge removes those of operations that ended
 * otherwise.
 */
public final class StepPurge {
    /** Steps of entries that have a result, are gone, or were started again. */
    private static final String ORPHANS = """
            SELECT s.tenant, s.space, s.key_, s.entry_created_at
            FROM onlyonce_step s
            WHERE NOT EXISTS (
                SELECT 1 FROM onlyonce_step f
                WHERE f.tenant = s.tenant AND f.space = s.space AND f.key_ = s.key_
                  AND f.entry_created_at = s.entry_created_at AND f.number < s.number)
              AND NOT EXISTS (
                SELECT 1 FROM onlyonce_entry e
                WHERE e.tenant = s.tenant AND e.space = s.space AND e.key_ = s.key_
                  AND e.created_at = s.entry_created_at AND e.state IN (1, 2, 5, 6))
            LIMIT ?""";

    private static final String REMOVE = """
            DELETE FROM onlyonce_step
            WHERE tenant = ? AND space = ? AND key_ = ? AND entry_created_at = ?""";

    private final SqlDialect database;
    private final Columns columns;

    /** On this database. */
    public StepPurge(SqlDialect database) {
        this.database = database;
        this.columns = Columns.of(database.kind());
    }

    /** The statements, with a name for each. */
    static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("purge: steps that nobody needs", ORPHANS);
        all.put("purge: remove steps", REMOVE);
        return all;
    }

    /** An entry that was made at this time, whatever the key stands for now. */
    record Orphan(EntryId id, long createdAt) {}

    /** The first entries with steps that nobody needs. */
    List<Orphan> orphans(Connection connection, int limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(database.sql(ORPHANS))) {
            statement.setInt(1, limit);
            List<Orphan> orphans = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    orphans.add(new Orphan(StoredEntry.id(row, 1, columns), row.getLong(4)));
                }
            }
            return orphans;
        }
    }

    /** Removes the steps of at most {@code limit} entries. */
    public void run(Connections connections, int limit) {
        List<Orphan> orphans =
                limit < 1 ? List.of() : connections.read(c -> database.bounded(c, bounded -> orphans(bounded, limit)));
        if (!orphans.isEmpty()) {
            connections.transaction(c -> {
                for (Orphan orphan : orphans) {
                    remove(c, orphan.id, orphan.createdAt);
                }
                return true;
            });
        }
    }

    /** Removes all steps of an entry. */
    public void remove(Connection connection, EntryId id, long createdAt) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(REMOVE))) {
            int next = RowParameters.of(columns, id).bind(statement, 1);
            statement.setLong(next, createdAt);
            statement.executeUpdate();
        }
    }
}
