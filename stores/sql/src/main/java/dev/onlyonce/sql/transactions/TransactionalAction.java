package dev.onlyonce.sql.transactions;

import java.sql.Connection;

/**
 * What takes effect once, all of it through the connection it is given.
 *
 * @param <T> its result, recorded and replayed
 * @param <X> what it throws; passed to the caller by identity
 */
@FunctionalInterface
public interface TransactionalAction<T, X extends Exception> {
    /**
     * Makes the effect in the transaction. Must not commit, roll back or close the connection. Whatever it throws undoes
     * what it did, and the next request with the key executes again.
     */
    T run(Connection connection) throws X;
}
