package dev.onlyonce;

import dev.onlyonce.store.Failure;
import java.util.Optional;
import java.util.function.Function;

/** What an action's exception says about its effect. Thread-safe; must not throw. */
@FunctionalInterface
public interface FailureRule {

    /** The effect of an action that threw. */
    sealed interface Verdict {
        /** Proven: no effect happened. The entry becomes retryable. */
        record NoEffect() implements Verdict {}

        /** It failed for good: every retry is answered with this failure. */
        record Final(Failure failure) implements Verdict {}

        /** Nobody knows. The entry becomes unknown and is reconciled. */
        record Unknown() implements Verdict {}
    }

    /** Judges an exception that the action threw. */
    Verdict judge(Throwable thrown);

    /** {@link NotExecuted} proves that nothing happened; every other exception proves nothing. The default. */
    static FailureRule standard() {
        return thrown -> thrown instanceof NotExecuted ? new Verdict.NoEffect() : new Verdict.Unknown();
    }

    /** This rule, after {@code first} had no opinion (answered empty). */
    default FailureRule after(Function<Throwable, Optional<Verdict>> first) {
        return thrown -> first.apply(thrown).orElseGet(() -> judge(thrown));
    }
}
