package dev.onlyonce.spring;

import dev.onlyonce.Codec;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.StoreException;
import java.util.concurrent.Callable;
import org.springframework.transaction.TransactionDefinition;

/** One Spring transaction around claim, method and record. */
final class TransactionalWay {
    private final EntryTransactions entries;
    private final Transactions transactions;

    TransactionalWay(EntryTransactions entries, Onlyonce once) {
        this.entries = entries;
        this.transactions = Transactions.of(once);
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
        if (entries.isActive()) {
            return join(definition, policy, asked, codec, action);
        }
        // Before it takes a connection: a duplicate of what this node is executing needs none.
        return transactions.alone(
                asked.key(), asked.fingerprint(), policy, codec, () -> join(definition, policy, asked, codec, action));
    }

    private <T> Outcome<T> join(
            TransactionDefinition definition, Policy policy, Asked asked, Codec<T> codec, Callable<T> action)
            throws Exception {
        return entries.run(
                definition,
                asked.key(),
                outcome -> outcome instanceof Outcome.Executed || asked.isForgotten(),
                (connection, current) -> {
                    Outcome<T> outcome = transactions.execute(
                            connection, asked.key(), asked.fingerprint(), policy, codec, any -> current.call(action));
                    if (asked.isForgotten()) {
                        transactions.awaitStandby(connection);
                    }
                    return outcome;
                });
    }
}
