package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.NodeRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The nodes that use the database, a row for each: like the row that the database is recognised by ({@link MarkRow}), they are no entries
 * and have no tenant. The column owner has the version, created_at the start, and settled_at when the node was seen last. No index
 * contains what a node changes while it runs.
 */
public final class NodeRows {
    /** The column space of these rows. */
    static final String SPACE = "onlyonce node";

    /** More nodes than anybody reads through. */
    private static final int SHOWN_MAX = 500;

    /** Names of processes change with each start: rows of those that ended are not kept for good. */
    private static final Duration KEPT = Duration.ofHours(1);

    private static final String UPDATE = """
        UPDATE onlyonce_entry SET owner = ?, created_at = {now} - ?, settled_at = {now}
        WHERE tenant = ? AND space = ? AND key_ = ?\
        """;

    private static final String INSERT = """
        INSERT INTO onlyonce_entry (
            tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
            lease_us, on_lease_lost, retention_us, tombstone_us, created_at, settled_at, lease_until, reap_at)
        VALUES (?, ?, ?, ?, 0, ?, 6, ?, 0, 0, 1, 0, 0, {now} - ?, {now}, 9000000000000000, 9000000000000000)\
        """;

    private static final String DELETE = """
        DELETE FROM onlyonce_entry WHERE tenant = ? AND space = ? AND settled_at < {now} - ?\
        """;

    static final String READ = """
        SELECT key_, owner, created_at, settled_at FROM onlyonce_entry
        WHERE tenant = ? AND space = ? AND settled_at >= {now} - ? ORDER BY key_ LIMIT ?\
        """;

    private NodeRows() {}

    /** Notes a node, and forgets those that have ended long ago. In a transaction. */
    public static boolean write(Connection connection, SqlDialect database, String node, String version, Duration upFor)
            throws SQLException {
        Columns columns = Columns.of(database.kind());
        String name = AuditText.who(node);
        long up = StoredEntry.micros(upFor);
        try (PreparedStatement update = database.prepare(connection, database.sql(UPDATE))) {
            columns.text(update, 1, AuditText.who(version));
            update.setLong(2, up);
            Binding.texts(columns, "", SPACE, name).bind(update, 3);
            if (update.executeUpdate() > 0) {
                return true;
            }
        }
        // Only when a node is new.
        try (PreparedStatement delete = database.prepare(connection, database.sql(DELETE));
                PreparedStatement insert = database.prepare(connection, database.sql(INSERT))) {
            Binding.texts(columns, "", SPACE)
                    .then(Binding.longs(StoredEntry.micros(KEPT)))
                    .bind(delete, 1);
            delete.executeUpdate();
            int next = Binding.texts(columns, "", SPACE, name, "node").bind(insert, 1);
            insert.setBytes(next, new byte[0]);
            columns.text(insert, next + 1, AuditText.who(version));
            insert.setLong(next + 2, up);
            return insert.executeUpdate() == 1;
        }
    }

    /** Those that were seen within the last hour, in the order of their names. */
    public static List<NodeRecord> read(Connection connection, SqlDialect database) throws SQLException {
        Columns columns = Columns.of(database.kind());
        try (PreparedStatement statement = database.prepare(connection, database.sql(READ))) {
            Binding.texts(columns, "", SPACE)
                    .then(Binding.longs(StoredEntry.micros(KEPT), SHOWN_MAX))
                    .bind(statement, 1);
            List<NodeRecord> nodes = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    nodes.add(new NodeRecord(
                            columns.text(row, 1),
                            columns.text(row, 2),
                            StoredEntry.instant(row.getLong(3)),
                            StoredEntry.instant(row.getLong(4))));
                }
            }
            return nodes;
        }
    }
}
