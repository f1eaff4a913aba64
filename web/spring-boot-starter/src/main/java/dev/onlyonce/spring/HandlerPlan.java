package dev.onlyonce.spring;

import org.springframework.transaction.TransactionDefinition;

/**
 * How a protected handler is executed.
 *
 * @param topic who makes the calls of a queued handler
 */
record HandlerPlan(WayChoice.Choice choice, String topic) {

    /** The transaction of the transactional and the queued way. */
    TransactionDefinition transaction() {
        return choice.transaction().orElseThrow();
    }
}
