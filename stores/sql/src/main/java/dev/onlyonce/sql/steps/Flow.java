package dev.onlyonce.sql.steps;

/**
 * Several effects in a row, each in a step of its own; nothing outside the steps has an effect.
 *
 * @param <T> the result, recorded and replayed
 * @param <X> what it throws
 */
@FunctionalInterface
public interface Flow<T, X extends Exception> {
    /** Runs all steps in order. Every attempt runs it from the beginning; finished steps only return their results. */
    T run(StepRunner steps) throws X;
}
