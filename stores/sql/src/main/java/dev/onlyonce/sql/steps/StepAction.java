package dev.onlyonce.sql.steps;

/**
 * An effect outside the database.
 *
 * @param <R> its result, recorded for later attempts
 * @param <X> what it throws
 */
@FunctionalInterface
public interface StepAction<R, X extends Exception> {
    /**
     * Makes the effect.
     *
     * @param downstreamKey the key to send along: every attempt of this step sends the same one
     */
    R run(String downstreamKey) throws X;
}
