package dev.onlyonce.sql.transactions;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.internal.connections.Standby;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The transactional way to execute: the claim, the effect and its result are in one database and commit in one transaction, so
 * the effect happens exactly once. There is no lease: if the process dies, the database rolls everything back.
 *
 * <p>An action runs either in the caller's transaction or in one of its own. In the caller's, the outcome holds when the caller
 * commits: tell no client before that; if the caller rolls back, nothing has happened. Listeners hear of it before that commit.
 * In one of its own, everything is durable on return. A duplicate of a key that this node is executing is answered from memory; one
 * that waits has no connection meanwhile.
 *
 * <p>Whatever the action throws passes through after its effects are undone; in the caller's transaction, the caller may go on
 * with it and commit. Safe for any number of threads, each with a connection of its own.
 */
public final class Transactions {
    private final Registry registry;
    private final TransactionRunner runner;

    private Transactions(Registry registry, TransactionRunner runner) {
        this.registry = registry;
        this.runner = runner;
    }

    /**
     * With the operations, listeners and name of an {@link Onlyonce}.
     *
     * @throws IllegalArgumentException if it is not built on a {@link SqlStore}
     */
    public static Transactions of(Onlyonce once) {
        return new Transactions(
                once.registry(),
                new TransactionRunner(SqlStore.of(once, "Transactions").access(), once.registry()));
    }

    /**
     * Executes in the caller's transaction. The result is stored as JSON.
     *
     * @param transaction a connection with auto-commit off
     * @throws X what the action throws
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer; the action did not run, or its effect was undone
     */
    public <T, X extends Exception> Outcome<T> execute(
            Connection transaction, Key key, Fingerprint fingerprint, Class<T> result, TransactionalAction<T, X> action)
            throws X {
        return execute(transaction, key, fingerprint, Codec.json(result), action);
    }

    /**
     * Executes in the caller's transaction.
     *
     * @param transaction a connection with auto-commit off
     * @throws X what the action throws
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer; the action did not run, or its effect was undone
     */
    public <T, X extends Exception> Outcome<T> execute(
            Connection transaction, Key key, Fingerprint fingerprint, Codec<T> codec, TransactionalAction<T, X> action)
            throws X {
        return runner.execute(transaction, request(key, fingerprint, codec), action);
    }

    /**
     * Executes in the caller's transaction, under a policy of the caller's.
     *
     * @throws X what the action throws
     */
    public <T, X extends Exception> Outcome<T> execute(
            Connection transaction, TransactionRunner.Request<T> request, TransactionalAction<T, X> action) throws X {
        return runner.execute(transaction, request, action);
    }

    /**
     * Executes in a transaction of its own and commits it. The result is stored as JSON.
     *
     * @throws X what the action throws, after a rollback
     * @throws TransactionConflict if it was rolled back because of concurrent work; call again
     * @throws StoreException if the database cannot answer; after {@link StoreOutcomeUnknown} it may have
     *     happened, and calling again tells
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Class<T> result, TransactionalAction<T, X> action) throws X {
        return execute(key, fingerprint, Codec.json(result), action);
    }

    /**
     * Executes in a transaction of its own and commits it. A commit whose acknowledgement is lost is looked up by its token.
     *
     * @throws X what the action throws, after a rollback
     * @throws TransactionConflict if it was rolled back because of concurrent work; call again
     * @throws StoreException if the database cannot answer; after {@link StoreOutcomeUnknown} it may have
     *     happened, and calling again tells
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Codec<T> codec, TransactionalAction<T, X> action) throws X {
        return runner.execute(request(key, fingerprint, codec), action);
    }

    /**
     * Executes in a transaction of its own, under a policy of the caller's.
     *
     * @throws X what the action throws, after a rollback
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec, TransactionalAction<T, X> action)
            throws X {
        return runner.execute(request(key, fingerprint, policy, codec), action);
    }

    /** A request under a policy of the caller's. */
    public <T> TransactionRunner.Request<T> request(Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec) {
        return request(key, fingerprint, codec).under(policy);
    }

    /**
     * Runs a transaction of the caller's making that executes this key, unless the answer is in memory: of an earlier request, or of one that
     * this node is executing, after a wait of no more than the policy's {@code waitMax}. Then nothing is begun. For callers that would
     * otherwise take a connection first.
     *
     * @param transaction begins a new transaction, executes the key in it on the same thread, and commits it if it {@linkplain
     *     TransactionRunner.Request#commits is to be}; it must not join another one
     * @throws X what the transaction throws
     */
    public <T, X extends Exception> Outcome<T> alone(
            TransactionRunner.Request<T> request, TransactionRunner.Transaction<T, X> transaction) throws X {
        return runner.alone(request, transaction);
    }

    /**
     * To be called after the caller's commit, before its connection is used for anything else. PostgreSQL reports a commit as done, with a
     * warning, when its wait for a synchronous standby was cancelled.
     *
     * @throws StoreOutcomeUnknown if that was so: a failover can undo it; calling again tells
     */
    public static void checkCommitted(Connection transaction) {
        try {
            Standby.check(transaction.getWarnings());
        } catch (SQLException e) {
            throw new StoreOutcomeUnknown("the commit was not confirmed; calling again tells", e);
        }
    }

    private <T> TransactionRunner.Request<T> request(Key key, Fingerprint fingerprint, Codec<T> codec) {
        Policy policy = registry.policy(key.operation(), Way.TRANSACTIONAL);
        return new TransactionRunner.Request<>(key, fingerprint, policy, codec, false);
    }
}
