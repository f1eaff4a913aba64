package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.connections.Calls;

/**
 * What the ways to execute share with the store.
 *
 * @param database the statements
 * @param calls runs them on connections
 * @param sealing encrypts and decrypts results
 */
public record SqlAccess(Database database, Calls calls, Sealing sealing) {}
