package dev.onlyonce.spring;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.io.Serial;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One Spring transaction around claim, method and record, on the database that holds the entries. The method's own
 * {@code @Transactional}, and those of what it calls, join it.
 *
 * <p>Nothing is recorded in a transaction that cannot commit: one that is marked for rollback, or one in which PostgreSQL
 * refuses every further statement because one has failed and somebody has caught that. Both are {@link RolledBack}.
 */
final class TransactionalWay {
    private static final Logger log = LoggerFactory.getLogger(TransactionalWay.class);
    /** PostgreSQL: an earlier statement of this transaction has failed. */
    private static final String ABORTED = "25P02";

    private final PlatformTransactionManager manager;
    private final DataSource dataSource;
    private final Transactions transactions;
    private final BeanFactory beans;
    private final List<Listener> listeners;
    private final Admission admission;
    /** Like Spring's own, which looks at methods that are not public too. */
    private static final AnnotationTransactionAttributeSource ATTRIBUTES =
            new AnnotationTransactionAttributeSource(false);

    TransactionalWay(
            PlatformTransactionManager manager,
            DataSource dataSource,
            Transactions transactions,
            BeanFactory beans,
            List<Listener> listeners,
            Admission admission) {
        this.manager = manager;
        this.dataSource = dataSource;
        this.transactions = transactions;
        this.beans = beans;
        this.listeners = List.copyOf(listeners);
        this.admission = admission;
    }

    /** The method returned, and the transaction was rolled back all the same. */
    static final class RolledBack extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        RolledBack() {
            super("The transaction was rolled back, so nothing happened", null, false, false);
        }
    }

    /** The transaction in which a method is to run; empty if it is to run in the leased way. */
    static Optional<TransactionDefinition> definition(
            @Nullable TransactionalWay way, Idempotent annotation, Method method, Class<?> type) {
        if (annotation.way() == Idempotent.Way.LEASED) {
            return Optional.empty();
        }
        boolean asked = annotation.way() == Idempotent.Way.TRANSACTIONAL;
        if (way == null) {
            if (asked) {
                throw new InvalidSettings(
                        type.getSimpleName() + "." + method.getName()
                                + " is to run in one transaction with its entry, but the"
                                + " entries are not in the application's database, or it has no single transaction manager",
                        "Keep the entries in the application's DataSource (no onlyonce.store.sqlite, no Store bean of another"
                                + " kind), or use way = LEASED.",
                        null);
            }
            return Optional.empty();
        }
        TransactionAttribute attribute = ATTRIBUTES.getTransactionAttribute(method, type);
        boolean joins = attribute == null || way.joins(attribute);
        if (asked && attribute != null && attribute.isReadOnly()) {
            throw new InvalidSettings(
                    type.getSimpleName() + "." + method.getName()
                            + " is to run in one transaction with its entry, which is written, but its @Transactional is"
                            + " read-only",
                    "Remove readOnly there if it changes something, or @Idempotent if it does not.",
                    null);
        }
        if (asked && !joins) {
            throw new InvalidSettings(
                    type.getSimpleName() + "." + method.getName()
                            + " is to run in one transaction with its entry, but its @Transactional wants one of its own, or"
                            + " another transaction manager",
                    "Use @Transactional without propagation and manager there, or way = LEASED.",
                    null);
        }
        if (attribute != null
                && joins
                && !attribute.isReadOnly()
                && attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRED) {
            return Optional.of(attribute);
        }
        return asked ? Optional.of(new DefaultTransactionDefinition()) : Optional.empty();
    }

    /** Why a method that is {@code @Transactional} and writes runs leased, although nobody asked for that; empty if not so. */
    static Optional<String> downgrade(
            @Nullable TransactionalWay way, Idempotent annotation, Method method, Class<?> type) {
        TransactionAttribute attribute = ATTRIBUTES.getTransactionAttribute(method, type);
        if (annotation.way() != Idempotent.Way.AUTO
                || attribute == null
                || attribute.isReadOnly()
                || definition(way, annotation, method, type).isPresent()) {
            return Optional.empty();
        }
        return Optional.of(
                way == null
                        ? "the entries are not in the application's database, or it has no single transaction manager"
                        : "its @Transactional names another manager or another propagation than REQUIRED");
    }

    /** Whether a method with this attribute takes part in a transaction of our manager. */
    private boolean joins(TransactionAttribute attribute) {
        boolean apart = switch (attribute.getPropagationBehavior()) {
            case TransactionDefinition.PROPAGATION_REQUIRES_NEW,
                    TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
                    TransactionDefinition.PROPAGATION_NEVER -> true;
            default -> false;
        };
        String qualifier = attribute.getQualifier();
        boolean ours = qualifier == null
                || qualifier.isEmpty()
                || BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, qualifier)
                        == manager;
        return ours && !apart;
    }

    /**
     * Claims, runs and records in one transaction, and commits it.
     *
     * @throws RolledBack if the action returned and its transaction was rolled back
     * @throws StoreException if the database cannot answer; nothing happened, unless it is {@link StoreOutcomeUnknown}
     * @throws Exception what the action throws, after a rollback
     */
    <T> Outcome<T> execute(
            TransactionDefinition definition, Policy policy, Asked asked, Codec<T> codec, Callable<T> action)
            throws Exception {
        TransactionStatus status;
        try {
            status = begin(definition);
        } catch (StoreException e) {
            throw told(asked.key(), e);
        }
        Outcome<T> outcome = bound(status, () -> executeIn(status, policy, asked, codec, action));
        if (!(outcome instanceof Outcome.Executed)) {
            leave(status);
            return outcome;
        }
        try {
            commit(status);
        } catch (StoreException e) {
            throw told(asked.key(), e);
        }
        return outcome;
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

    /**
     * Makes a JPA provider send what it has put off, in the transaction of this thread if it is one of ours: what the database
     * refuses is told while the application can still answer it, and not at the commit.
     */
    void flush() {
        if (TransactionSynchronizationManager.getResource(this) instanceof TransactionStatus status
                && !status.isRollbackOnly()) {
            try {
                status.flush();
            } catch (RuntimeException | Error e) {
                // What could not be written must not be written at the commit either.
                status.setRollbackOnly();
                throw e;
            }
        }
    }

    /** An exception left the handler, whoever answered it: what was done so far is undone. */
    void undo() {
        if (TransactionSynchronizationManager.getResource(this) instanceof TransactionStatus status) {
            status.setRollbackOnly();
        }
    }

    private <T> Outcome<T> executeIn(
            TransactionStatus status, Policy policy, Asked asked, Codec<T> codec, Callable<T> action) throws Exception {
        AtomicBoolean returned = new AtomicBoolean();
        try {
            return executeIn(policy, asked, codec, () -> {
                T value = action.call();
                if (status.isNewTransaction() && !status.isRollbackOnly()) {
                    // What a JPA provider has put off fails here as the application's exception, not at the commit as
                    // doubt.
                    status.flush();
                }
                returned.set(true);
                if (status.isRollbackOnly()) {
                    throw new RolledBack();
                }
                return value;
            });
        } catch (TransactionConflict e) {
            rollBack(status, e);
            throw told(
                    asked.key(),
                    new StoreUnavailable("The transaction conflicts with another one; nothing happened", e));
        } catch (StoreException e) {
            rollBack(status, e);
            if (returned.get() && isAborted(e)) {
                log.warn(
                        "{}: a statement failed and its exception was caught, after which the database undoes the whole"
                                + " transaction",
                        asked.key());
                throw new RolledBack();
            }
            throw logged(asked.key(), e);
        } catch (Throwable e) {
            rollBack(status, e);
            throw e;
        }
    }

    private static boolean isAborted(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && ABORTED.equals(sql.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    private <T> Outcome<T> executeIn(Policy policy, Asked asked, Codec<T> codec, Callable<T> action) throws Exception {
        Connection connection = DataSourceUtils.getConnection(dataSource);
        try {
            return transactions.execute(
                    connection, asked.key(), asked.fingerprint(), policy, codec, any -> action.call());
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    /** Nothing was done in it: the caller's transaction, if it is that, goes on unharmed. */
    private void leave(TransactionStatus status) {
        if (status.isNewTransaction()) {
            rollBack(status, new RolledBack());
        } else {
            commit(status);
        }
    }

    /** What is asked for. */
    record Asked(Key key, Fingerprint fingerprint) {}

    /** For failures of Spring's transaction itself; {@link Transactions} publishes the rest. */
    private void tell(Event event) {
        for (Listener listener : listeners) {
            try {
                listener.on(event);
            } catch (RuntimeException | Error e) {
                // What is committed is committed, whatever becomes of its count.
                log.error("A listener failed", e);
            }
        }
    }

    private <E extends StoreException> E told(Key key, E failure) {
        tell(new Event.StoreFailed(failure));
        return logged(key, failure);
    }

    private static <E extends StoreException> E logged(Key key, E failure) {
        if (failure.getCause() != null) {
            // Those that did not even try have no cause, and may be many.
            log.warn(
                    "{} did not run to its end, because the store failed: {}",
                    key,
                    failure.getMessage(),
                    failure.getCause());
        }
        return failure;
    }

    private TransactionStatus begin(TransactionDefinition definition) {
        TransactionStatus status;
        try {
            // Whoever is in a transaction already needs no connection.
            status = TransactionSynchronizationManager.hasResource(dataSource)
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
    private static final class LastWork implements TransactionSynchronization {
        private boolean done;

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            done = true;
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
