package dev.onlyonce.spring.transactions;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Registry;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Spring transactions on the database that holds the entries. The method's own {@code @Transactional}, and those of the beans
 * that it calls, join the transaction that this begins.
 *
 * <p>Nothing is recorded in a transaction that cannot commit: one that is marked for rollback, or one in which PostgreSQL
 * refuses every further statement because one has failed and somebody has caught that. Both are {@link RolledBack}.
 */
public final class EntryTransactions {
    private static final Logger log = LoggerFactory.getLogger(EntryTransactions.class);
    /** PostgreSQL: an earlier statement of this transaction has failed. */
    private static final String ABORTED = "25P02";
    /** A transaction that could not be serialised, and one that was ended to resolve a deadlock. */
    private static final Set<String> CONFLICTS = Set.of("40001", "40P01");

    /** How often a transaction is begun that conflicts with others before the application's code has run. */
    private static final int TRIES_MAX = 3;

    private final PlatformTransactionManager manager;
    private final DataSource dataSource;
    private final Registry registry;
    private final Admission admission;
    private final DeferredConstraints deferred;

    EntryTransactions(PlatformTransactionManager manager, DataSource dataSource, Registry registry, Guards guards) {
        this.manager = manager;
        this.dataSource = dataSource;
        this.registry = registry;
        this.admission = guards.admission;
        this.deferred = guards.deferred;
    }

    /** What is looked at before a transaction begins, and before it commits. */
    record Guards(Admission admission, DeferredConstraints deferred) {}

    /** The method returned, but the transaction was rolled back. */
    public static final class RolledBack extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        RolledBack() {
            super("The transaction was rolled back, so nothing happened", null, false, false);
        }
    }

    /** What is done in a transaction: it claims a key, and then calls the application's code. */
    public interface Work<T> {
        T run(Connection connection, Current current) throws Exception;
    }

    /** The transaction that runs. */
    public static final class Current {
        private final TransactionStatus status;
        private final DeferredConstraints deferred;
        private boolean called;
        private boolean returned;

        private Current(TransactionStatus status, DeferredConstraints deferred) {
            this.status = status;
            this.deferred = deferred;
        }

        /** Calls the application's code; throws {@link RolledBack} if the transaction cannot commit after it. */
        public <T> T call(Callable<T> action) throws Exception {
            called = true;
            T value = action.call();
            if (status.isNewTransaction() && !status.isRollbackOnly()) {
                // What a JPA provider has put off fails here as the application's exception, not at the commit as
                // doubt.
                status.flush();
                deferred.check();
            }
            returned = true;
            if (status.isRollbackOnly()) {
                throw new RolledBack();
            }
            return value;
        }
    }

    /** Whether the caller's thread is in a transaction on the database of the entries: it has a connection already. */
    boolean isActive() {
        return TransactionSynchronizationManager.hasResource(dataSource);
    }

    /** Whether this manager makes the transactions. */
    boolean isManagedBy(Object other) {
        return manager == other;
    }

    /**
     * Runs the work in one transaction and commits it.
     *
     * @param commits whether the transaction, by the work's result, is to commit; if not, the caller's transaction goes on unharmed
     * @throws RolledBack if the application's code returned and the transaction was rolled back
     * @throws StoreException if the database cannot answer; nothing happened, unless it is {@link StoreOutcomeUnknown}
     * @throws Exception what the application's code throws, after a rollback
     */
    public <T> T run(TransactionDefinition definition, Key key, Predicate<T> commits, Work<T> work) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                return tryOnce(definition, key, commits, work);
            } catch (Conflict e) {
                if (!e.isRepeatable || attempt == TRIES_MAX) {
                    throw failed(
                            key,
                            new StoreUnavailable(
                                    "The transaction conflicts with another one; nothing happened", e.getCause()));
                }
            }
        }
    }

    /** The database asks for the transaction to be rolled back, which has been done, and to be run again. */
    private static final class Conflict extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        private final boolean isRepeatable;

        Conflict(TransactionConflict cause, boolean isRepeatable) {
            super(null, cause, false, false);
            this.isRepeatable = isRepeatable;
        }
    }

    private <T> T tryOnce(TransactionDefinition definition, Key key, Predicate<T> commits, Work<T> work)
            throws Exception {
        TransactionStatus status = published(key, () -> begin(definition));
        T result = bound(status, () -> runIn(new Current(status, deferred), key, work));
        if (!commits.test(result) && status.isNewTransaction()) {
            rollBack(status, new RolledBack());
        } else {
            published(key, () -> {
                commit(status);
                return status;
            });
        }
        return result;
    }

    /** Listeners hear of failures of Spring's transaction here; of those within it, they have heard. */
    private <T> T published(Key key, Supplier<T> step) {
        try {
            return step.get();
        } catch (StoreException e) {
            throw failed(key, e);
        }
    }

    /** With the transaction to be found by {@link #flush}. */
    private <T> T bound(TransactionStatus status, Callable<T> work) throws Exception {
        boolean outermost = !TransactionSynchronizationManager.hasResource(this);
        if (outermost) {
            TransactionSynchronizationManager.bindResource(this, status);
        }
        try {
            return work.call();
        } finally {
            if (outermost) {
                TransactionSynchronizationManager.unbindResource(this);
            }
        }
    }

    /** The handler has returned: a JPA provider sends what it has put off, and the database checks what it has put off. */
    public void flush() {
        if (TransactionSynchronizationManager.getResource(this) instanceof TransactionStatus status
                && !status.isRollbackOnly()) {
            try {
                status.flush();
                deferred.check();
            } catch (RuntimeException | Error e) {
                // What could not be written must not be written at the commit either.
                status.setRollbackOnly();
                throw e;
            }
        }
    }

    /** An exception left the handler: its writes are rolled back, whatever code answers the exception. */
    public void undo() {
        if (TransactionSynchronizationManager.getResource(this) instanceof TransactionStatus status) {
            status.setRollbackOnly();
        }
    }

    private <T> T runIn(Current current, Key key, Work<T> work) throws Exception {
        TransactionStatus status = current.status;
        try {
            Connection connection = DataSourceUtils.getConnection(dataSource);
            try {
                return work.run(connection, current);
            } finally {
                DataSourceUtils.releaseConnection(connection, dataSource);
            }
        } catch (TransactionConflict e) {
            boolean isRepeatable = status.isNewTransaction() && !current.called;
            rollBack(status, e);
            throw new Conflict(e, isRepeatable);
        } catch (StoreException e) {
            rollBack(status, e);
            if (current.returned && isAborted(e)) {
                log.warn(
                        "{}: a statement failed and its exception was caught, after which the database undoes the whole"
                                + " transaction",
                        key);
                throw new RolledBack();
            }
            log(key, e);
            throw e;
        } catch (Throwable e) {
            rollBack(status, e);
            throw e;
        }
    }

    /** Whether PostgreSQL undoes the transaction because an earlier statement has failed. */
    static boolean isAborted(Throwable e) {
        return isOf(e, Set.of(ABORTED));
    }

    /** Whether the database asked for the transaction to be run again. It was rolled back, so nothing has happened. */
    public static boolean isConflict(Throwable e) {
        return isOf(e, CONFLICTS);
    }

    private static boolean isOf(Throwable e, Set<String> states) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null && states.contains(sql.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    private <E extends StoreException> E failed(Key key, E failure) {
        log(key, failure);
        registry.publish(new Event.StoreFailed(failure));
        return failure;
    }

    private static void log(Key key, StoreException failure) {
        if (failure.getCause() != null) {
            // Those that did not even try have no cause, and may be many.
            log.warn(
                    "{} did not run to its end, because the store failed: {}",
                    key,
                    failure.getMessage(),
                    failure.getCause());
        }
    }

    private TransactionStatus begin(TransactionDefinition definition) {
        TransactionStatus status;
        try {
            // Whoever is in a transaction already needs no connection.
            status = isActive()
                    ? manager.getTransaction(definition)
                    : admission.take(() -> manager.getTransaction(definition));
        } catch (TransactionException | DataAccessException e) {
            throw new StoreUnavailable("No transaction can be begun", e);
        }
        if (!TransactionSynchronizationManager.hasResource(dataSource)) {
            manager.rollback(status);
            throw new IllegalStateException(
                    "The transaction manager does not manage the DataSource that holds the entries");
        }
        return status;
    }

    /** Knows when the last of the application's work in a transaction is done, and only the commit itself is left. */
    private final class LastWork implements TransactionSynchronization {
        private boolean done;

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            done = true;
        }

        /** The connection is still there, with what the database said about the commit. */
        @Override
        public void afterCommit() {
            Connection connection = DataSourceUtils.getConnection(dataSource);
            try {
                Transactions.checkCommitted(connection);
            } finally {
                DataSourceUtils.releaseConnection(connection, dataSource);
            }
        }
    }

    private void commit(TransactionStatus status) {
        LastWork lastWork = new LastWork();
        if (status.isNewTransaction() && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(lastWork);
        } else {
            lastWork.done = true;
        }
        try {
            manager.commit(status);
        } catch (UnexpectedRollbackException e) {
            throw new RolledBack();
        } catch (DataIntegrityViolationException e) {
            // The database refused: nothing happened, and the application knows what to say about it.
            throw e;
        } catch (ConcurrencyFailureException e) {
            throw new StoreUnavailable("The transaction conflicts with another one; nothing happened", e);
        } catch (TransactionException | DataAccessException e) {
            if (!lastWork.done) {
                // A listener of the application's threw it before the commit: nothing happened.
                throw e;
            }
            if (isAborted(e)) {
                throw new RolledBack();
            }
            throw new StoreOutcomeUnknown("The commit was not acknowledged; asking again tells", e);
        }
    }

    private void rollBack(TransactionStatus status, Throwable cause) {
        try {
            manager.rollback(status);
        } catch (TransactionException | DataAccessException e) {
            // The connection is broken, and the database rolls back by itself.
            cause.addSuppressed(e);
        }
    }
}
