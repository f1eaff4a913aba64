package dev.onlyonce.spring.transactions;

import dev.onlyonce.Codec;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.sql.transactions.TransactionRunner;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.StoreException;
import java.util.concurrent.Callable;
import org.springframework.transaction.TransactionDefinition;

/** One Spring transaction around claim, method and record. */
public final class TransactionalWay {
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
    public <T> Outcome<T> execute(
            TransactionDefinition definition, Policy policy, KeyedCall asked, Codec<T> codec, Callable<T> action)
            throws Exception {
        TransactionRunner.Request<T> plain = transactions.request(asked.key(), asked.fingerprint(), policy, codec);
        TransactionRunner.Request<T> request = asked.isForgotten() ? plain.forgotten() : plain;
        if (entries.isActive()) {
            return entries.run(
                    definition,
                    asked.key(),
                    request::commits,
                    (connection, current) -> transactions.execute(connection, request, any -> current.call(action)));
        }
        // Before it takes a connection: a request that this node can answer needs none.
        return transactions.alone(
                request,
                key -> entries.run(
                        definition,
                        asked.key(),
                        request::commits,
                        (connection, current) -> key.execute(connection, any -> current.call(action))));
    }
}
