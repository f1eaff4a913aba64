package dev.onlyonce.spring;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.Transactions;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import org.springframework.transaction.TransactionDefinition;

/** Runs those handlers in one transaction that are, or are asked to be, transactional. */
final class HandlerTransactions implements Transactions {
    private final TransactionalWay way;
    private final Map<String, TransactionDefinition> definitions;

    HandlerTransactions(TransactionalWay way, Map<String, TransactionDefinition> definitions) {
        this.way = way;
        this.definitions = Map.copyOf(definitions);
    }

    @Override
    public boolean joins(Operation operation) {
        return definitions.containsKey(operation.name());
    }

    @Override
    public Outcome<byte[]> execute(Operation operation, Key key, Fingerprint fingerprint, Handler handler)
            throws IOException, ServletException {
        try {
            return way.execute(
                    Objects.requireNonNull(definitions.get(operation.name())),
                    operation.policy(),
                    new TransactionalWay.Asked(key, fingerprint),
                    Codec.bytes(),
                    handler::run);
        } catch (TransactionalWay.RolledBack e) {
            throw new RolledBack();
        } catch (IOException | ServletException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("handlers throw nothing else", e);
        }
    }
}
