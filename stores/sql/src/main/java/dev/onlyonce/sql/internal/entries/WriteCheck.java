package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Tokens;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Shows that entries can be recorded: writes one and deletes it, in one transaction that is committed. Reading proves nothing
 * about a disk that is full or read-only, and a transaction that is rolled back may never reach the disk. Nobody else sees the
 * row, and nobody waits for it: its key is this process's own.
 */
public final class WriteCheck {
    private static final String KEY = "health " + Tokens.next();

    private static final String INSERT = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at, purge_at)
            VALUES ('-', '-', ?, '-', 1, ?, 5, '-', 0, 0, 1, 0, 0, 0, 0, 0, 0)""";

    private static final String DELETE = "DELETE FROM onlyonce_entry WHERE tenant = ? AND space = ? AND key_ = ?";

    private WriteCheck() {}

    /** Runs in a transaction; throws if that cannot be done. */
    public static boolean run(Connection connection, SqlDialect database) throws SQLException {
        Columns columns = Columns.of(database.kind());
        try (PreparedStatement insert = database.prepare(connection, database.sql(INSERT));
                PreparedStatement delete = database.prepare(connection, database.sql(DELETE))) {
            columns.text(insert, 1, KEY);
            insert.setBytes(2, new byte[Fingerprint.DIGEST_BYTES]);
            insert.executeUpdate();
            // Bound, not in the text: H2 does not compare bytes with characters.
            Binding.texts(columns, "-", "-", KEY).bind(delete, 1);
            return delete.executeUpdate() == 1;
        }
    }
}
