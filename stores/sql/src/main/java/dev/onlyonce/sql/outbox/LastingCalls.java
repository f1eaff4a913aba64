package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.entries.Columns;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Terms;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * Keeps the entries of calls that wait for as long as it takes: {@link OutboxCall#lasting}. The row of such a call says so until it is
 * deleted.
 *
 * <ol>
 *   <li>An entry that is accepted stays pending.
 *   <li>Before a worker makes an entry retryable, it extends the retention. The next claim brings the operation's own retention
 *       back, so the answer is kept no longer than others.
 *   <li>An unknown entry does not expire. If it is resolved as absent, the statement looks at the row.
 * </ol>
 *
 * <p>The statements are the same on all databases. Nothing here begins or ends a transaction.
 */
final class LastingCalls {
    /** A pending entry has no settled_at, and a retryable one no lease. */
    private static final String KEEP_FREE = """
            UPDATE onlyonce_entry
            SET lease_until = created_at + ?, expires_at = settled_at + ?, purge_at = settled_at + ?
            WHERE tenant = ? AND space = ? AND key_ = ? AND state IN (1, 5)""";

    private static final String KEEP_CLAIMED = """
            UPDATE onlyonce_entry SET retention_us = ?
            WHERE tenant = ? AND space = ? AND key_ = ? AND token = ? AND state = 2""";

    private static final long KEPT_US = StoredEntry.micros(Terms.RETENTION_MAX);

    private final SqlDialect database;
    private final Columns columns;
    /** Only PostgreSQL ends a batch at the first locked entry. Others wait for each of the rest as well. */
    private final boolean isBatched;

    LastingCalls(SqlDialect database) {
        this.database = database;
        this.columns = Columns.of(database.kind());
        this.isBatched = database.kind() == SqlDatabase.POSTGRESQL;
    }

    /** A call has just been accepted for this entry. */
    int accepted(Connection connection, EntryId id) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(KEEP_FREE))) {
            statement.setLong(1, KEPT_US);
            statement.setLong(2, KEPT_US);
            statement.setLong(3, KEPT_US);
            bindId(statement, 4, id);
            return statement.executeUpdate();
        }
    }

    /** These claims are about to be made retryable; sorted by id. */
    void release(Connection connection, List<Settlement> claims) throws SQLException {
        if (claims.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = database.prepare(connection, database.sql(KEEP_CLAIMED))) {
            for (Settlement claim : claims) {
                statement.setLong(1, KEPT_US);
                bindId(statement, 2, claim.id());
                columns.token(statement, 5, claim.token());
                if (isBatched) {
                    statement.addBatch();
                } else {
                    statement.executeUpdate();
                }
            }
            if (isBatched) {
                statement.executeBatch();
            }
        }
    }

    private void bindId(PreparedStatement statement, int first, EntryId id) throws SQLException {
        columns.text(statement, first, id.tenant());
        columns.text(statement, first + 1, id.scope());
        columns.text(statement, first + 2, id.key());
    }
}
