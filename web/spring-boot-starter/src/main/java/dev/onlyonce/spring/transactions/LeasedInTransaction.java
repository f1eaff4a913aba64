package dev.onlyonce.spring.transactions;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A leased method that is called within a transaction. Its entry is not part of that: it stays recorded if the transaction is rolled back,
 * and so do effects outside of the database, while its own writes may be lost. On SQLite it cannot even be claimed once the transaction has
 * written. Both are said.
 */
public final class LeasedInTransaction {
    private static final Logger log = LoggerFactory.getLogger(LeasedInTransaction.class);

    private LeasedInTransaction() {}

    /** Executes it, whether or not there is a transaction. */
    public static <T> Outcome<T> execute(KeyedCall asked, Callable<Outcome<T>> leased) throws Exception {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            return leased.call();
        }
        Outcome<T> outcome;
        try {
            outcome = leased.call();
        } catch (StoreException e) {
            if (isSqlite(e)) {
                throw new StoreUnavailable(
                        asked.key().operation()
                                + " is leased and was called within a transaction: SQLite has one writer, so a claim waits for that"
                                + " transaction in vain. Call it outside of transactions, or make it transactional (@Transactional)",
                        e);
            }
            throw e;
        }
        if (outcome instanceof Outcome.Executed && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new Warning(asked.key()));
        }
        return outcome;
    }

    private static boolean isSqlite(StoreException e) {
        Throwable cause = e.getCause();
        return cause != null && cause.getClass().getName().startsWith("org.sqlite.");
    }

    /** Says that the record has outlived the transaction. */
    private record Warning(Key key) implements TransactionSynchronization {
        @Override
        public void afterCompletion(int status) {
            if (status == STATUS_ROLLED_BACK) {
                log.warn(
                        "{}: a leased method was executed and is recorded as done, but the transaction that called it was rolled back,"
                                + " and with it what the method wrote there. Call it outside, or make it transactional (@Transactional)",
                        key);
            }
        }
    }
}
