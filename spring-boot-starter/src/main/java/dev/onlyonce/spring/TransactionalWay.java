package dev.onlyonce.spring;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.StoreException;
import java.util.concurrent.Callable;
import org.springframework.transaction.TransactionDefinition;

/** One Spring transaction around claim, method and record. */
final class TransactionalWay {
    private final EntryTransactions transactions;
    private final SqlStore store;
    private final Onlyonce once;

    TransactionalWay(EntryTransactions transactions, SqlStore store, Onlyonce once) {
        this.transactions = transactions;
        this.store = store;
        this.once = once;
    }

    /**
     * Claims, runs and records in one transaction, and commits it.
     *
     * @throws EntryTransactions.RolledBack if the action returned and its transaction was rolled back
     * @throws StoreException if the database cannot answer; nothing happened, unless it is {@link
     *     dev.onlyonce.store.StoreOutcomeUnknown}
     * @throws Exception what the action throws, after a rollback
     */
    <T> Outcome<T> execute(
            TransactionDefinition definition, Policy policy, Asked asked, Codec<T> codec, Callable<T> action)
            throws Exception {
        Outcome<T> outcome = transactions.run(
                definition,
                asked.key(),
                Outcome.Executed.class::isInstance,
                (connection, current) -> store.transactions(policy)
                        .execute(connection, asked.key(), asked.fingerprint(), codec, any -> current.call(action)));
        // After the commit: what was rolled back was not decided.
        once.registry().publish(new Event.Decided(asked.key(), Event.Decision.of(outcome)));
        return outcome;
    }
}
