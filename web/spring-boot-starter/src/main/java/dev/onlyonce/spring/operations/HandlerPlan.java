package dev.onlyonce.spring.operations;

import org.springframework.transaction.TransactionDefinition;

/**
 * How a protected handler is executed.
 *
 * @param topic who makes the calls of a queued handler
 */
public record HandlerPlan(ChosenWay choice, String topic) {

    /** The transaction of the transactional and the queued way. */
    public TransactionDefinition transaction() {
        return choice.transaction().orElseThrow();
    }
}
