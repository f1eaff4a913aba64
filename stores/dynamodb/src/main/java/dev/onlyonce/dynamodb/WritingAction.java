package dev.onlyonce.dynamodb;

import dev.onlyonce.Claim;

/**
 * An action whose effects are writes to DynamoDB, in the account and region of the store.
 *
 * @param <T> its result
 * @param <X> what it throws
 */
@FunctionalInterface
public interface WritingAction<T, X extends Exception> {
    /**
     * Decides what to write. It has no effect of its own: if it throws, nothing has happened, and the next request runs it again.
     *
     * @param claim the right to execute
     * @param writes takes what is to be written
     * @return the result to record
     */
    T run(Claim claim, Writes writes) throws X;
}
