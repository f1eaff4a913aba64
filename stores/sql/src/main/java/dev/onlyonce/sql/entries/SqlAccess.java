package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.connections.Calls;

/**
 * What the ways to execute share with the store.
 *
 * @param database the statements
 * @param calls runs them on connections
 * @param sealing encrypts and decrypts results
 * @param halfDone keeps half-done stepped operations
 * @param running the keys that this node is executing in transactions
 */
public record SqlAccess(
        Database database, Calls calls, Sealing sealing, HalfDoneReleases halfDone, RunningKeys running) {
    /** The statements for a caller's transaction; they throw if the store must not be used. */
    public InTransaction inTransaction() {
        return new GuardedInTransaction(database.inTransaction(), calls::checkGuard);
    }

    /** For one database. */
    public SqlAccess(Database database, Calls calls, Sealing sealing) {
        this(database, calls, sealing, new HalfDoneReleases(database, calls), new RunningKeys());
    }
}
