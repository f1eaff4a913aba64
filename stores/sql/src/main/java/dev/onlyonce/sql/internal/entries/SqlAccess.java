package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;

/**
 * What the ways to execute share with the store.
 *
 * @param database the statements
 * @param connections runs them on connections
 * @param sealing encrypts and decrypts results
 * @param halfDone keeps half-done stepped operations
 * @param running the keys that this node is executing in transactions
 */
public record SqlAccess(
        SqlDialect database, Connections connections, Sealing sealing, HalfDoneReleases halfDone, RunningKeys running) {
    /** The statements for a caller's transaction; they throw if the store must not be used. */
    public InTransaction inTransaction() {
        return new GuardedInTransaction(database.inTransaction(), connections::checkGuard);
    }

    /** For one database. */
    public SqlAccess(SqlDialect database, Connections connections, Sealing sealing) {
        this(database, connections, sealing, new HalfDoneReleases(database, connections), new RunningKeys());
    }
}
