package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/**
 * The row in the table of entries that shows that this is the database it was, see {@link StoreMark}; the script V001 makes it. And the
 * primary key of that table: without it, the database would take a key twice, or none at all.
 */
public final class MarkRow {
    /** Names of entries have a tenant. */
    private static final String KEY = "onlyonce store";

    private static final String READ = "SELECT owner FROM onlyonce_entry WHERE tenant = ? AND space = ? AND key_ = ?";

    private static final String DELETE = "DELETE FROM onlyonce_entry WHERE tenant = ? AND space = ? AND key_ = ?";

    /** As in the script. */
    private static final String INSERT = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            VALUES (?, ?, ?, ?, 0, ?, 6, ?, 0, 0, 1, 0, 0, 0, 9000000000000000, 9000000000000000)""";

    private MarkRow() {}

    /** Reads it. */
    public static Optional<StoreMark> read(Connection connection, SqlDialect database) throws SQLException {
        Columns columns = Columns.of(database.kind());
        try (PreparedStatement statement = database.prepare(connection, database.sql(READ))) {
            Binding.texts(columns, "", "", KEY).bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? StoreMark.of(columns.text(row, 1)) : Optional.empty();
            }
        }
    }

    /** Writes it, in a transaction. */
    public static boolean write(Connection connection, SqlDialect database, StoreMark mark) throws SQLException {
        Columns columns = Columns.of(database.kind());
        try (PreparedStatement delete = database.prepare(connection, database.sql(DELETE));
                PreparedStatement insert = database.prepare(connection, database.sql(INSERT))) {
            Binding.texts(columns, "", "", KEY).bind(delete, 1);
            delete.executeUpdate();
            int next = Binding.texts(columns, "", "", KEY, "store").bind(insert, 1);
            insert.setBytes(next, new byte[0]);
            columns.text(insert, next + 1, mark.text());
            return insert.executeUpdate() == 1;
        }
    }

    /**
     * Checks the primary key.
     *
     * @throws StoreRejected if there is none
     */
    public static boolean checkKey(Connection connection, SqlDialect database) throws SQLException {
        String sql = switch (database.kind()) {
            // Any unique index on the three columns will do for ON CONFLICT, unless it is checked at the commit.
            case POSTGRESQL -> """
                    SELECT count(*) FROM pg_catalog.pg_index i
                    WHERE i.indrelid = {table}::pg_catalog.regclass AND i.indisunique AND i.indisvalid
                      AND i.indimmediate AND i.indpred IS NULL AND (
                          SELECT string_agg(a.attname, ' ' ORDER BY a.attname) FROM pg_catalog.pg_attribute a
                          WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) = 'key_ space tenant'""";
            case MYSQL -> """
                    SELECT count(*) = 3 AND sum(column_name IN ('tenant', 'space', 'key_')) = 3
                    FROM information_schema.statistics
                    WHERE table_schema = DATABASE() AND table_name = 'onlyonce_entry' AND index_name = 'PRIMARY'""";
            case SQLITE -> """
                    SELECT count(*) = 3 AND total(name IN ('tenant', 'space', 'key_')) = 3
                    FROM pragma_table_info('onlyonce_entry') WHERE pk > 0""";
            case H2 -> """
                    SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS
                    WHERE CONSTRAINT_TYPE = 'PRIMARY KEY' AND LOWER(TABLE_NAME) = 'onlyonce_entry'""";
        };
        // In PostgreSQL, with the schema of the table: connections may have another search path.
        String literal = "'" + database.sql("onlyonce_entry").replace("'", "''") + "'";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql.replace("{table}", literal))) {
            if (!row.next() || row.getInt(1) < 1) {
                throw new StoreRejected(
                        "the table onlyonce_entry has lost its primary key, and with it the database takes a key more than once:"
                                + " look for duplicates, then ALTER TABLE onlyonce_entry ADD PRIMARY KEY (tenant, space, key_)",
                        null);
            }
            return true;
        }
    }
}
