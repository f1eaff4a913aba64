package dev.onlyonce;

/**
 * The effect that must happen once.
 *
 * @param <T> its result, recorded and replayed
 * @param <X> its exception; passed to the caller by identity
 */
@FunctionalInterface
public interface Action<T, X extends Exception> {
    /**
     * Makes the effect. Returning means that it happened and this is its result (a final refusal is a result too).
     * Throwing {@link NotExecuted} means proof that nothing happened. Any other exception proves nothing: unless the
     * policy's {@link FailureRule} knows better, the outcome is unknown.
     */
    T run(Claim claim) throws X;
}
