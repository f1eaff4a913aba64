package dev.onlyonce.spring.operations;

import dev.onlyonce.Way;
import java.util.Optional;
import org.springframework.transaction.TransactionDefinition;

/**
 * How an {@code @Idempotent} method runs.
 *
 * @param transaction of the transactional and the queued way
 */
public record ChosenWay(Way way, Optional<TransactionDefinition> transaction) {
    /** Leased: without a transaction. */
    public static ChosenWay leased() {
        return new ChosenWay(Way.LEASED, Optional.empty());
    }
}
