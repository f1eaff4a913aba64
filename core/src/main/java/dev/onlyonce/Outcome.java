package dev.onlyonce;

import dev.onlyonce.store.Failure;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a request. Exactly one of the variants: take it apart with {@link #fold}, or in short with {@link #orElseThrow}.
 *
 * @param <T> the operation's result
 */
public sealed interface Outcome<T> {

    /**
     * The action ran now, and its result is durable.
     *
     * @param expiresAt how long retries are answered with it, by the store's clock
     */
    record Executed<T>(T value, Instant expiresAt) implements Outcome<T> {}

    /**
     * The action had run before: this is the recorded result. Nothing was executed.
     *
     * @param expiresAt how long retries are answered with it, by the store's clock
     */
    record Replayed<T>(T value, Instant expiresAt) implements Outcome<T> {}

    /**
     * A final failure was recorded before; nothing was executed. (The request that failed got the action's exception.)
     *
     * @param expiresAt how long retries are answered with it, by the store's clock
     */
    record Failed<T>(Failure failure, Instant expiresAt) implements Outcome<T> {}

    /**
     * Somebody else is executing it, or it waits for a worker. Nothing was changed.
     *
     * @param pending whether it waits for a worker
     * @param retryAfter when to ask again
     */
    record InFlight<T>(boolean pending, Duration retryAfter) implements Outcome<T> {}

    /**
     * The key was used for another request. Nothing was executed.
     *
     * @param reason what differs
     */
    record Mismatched<T>(Reason reason) implements Outcome<T> {
        /** What differs from the request that first used the key. */
        public enum Reason {
            /** The key was used for another operation. */
            OPERATION,
            /** The request has another fingerprint. */
            REQUEST
        }
    }

    /**
     * Nobody knows whether the effect happened; it is being reconciled. Nothing was executed now, or what was executed
     * lost its lease before its result could be recorded.
     *
     * @param retryAfter when to ask again
     */
    record Unknown<T>(Duration retryAfter) implements Outcome<T> {}

    /** The recorded result is past its retention; only the key is remembered. Nothing was executed. */
    record Expired<T>() implements Outcome<T> {}

    /**
     * One method for each variant: a new variant is a compile error for every caller, and no two can be swapped.
     *
     * @param <T> the operation's result
     * @param <R> the result of the methods
     */
    interface Cases<T, R extends @Nullable Object> {
        /** The action ran now. */
        R executed(Executed<T> outcome);

        /** It had run before. */
        R replayed(Replayed<T> outcome);

        /** It had failed for good before. */
        R failed(Failed<T> outcome);

        /** Somebody else is executing it, or it waits for a worker. */
        R inFlight(InFlight<T> outcome);

        /** The key was used for another request. */
        R mismatched(Mismatched<T> outcome);

        /** Nobody knows whether the effect happened. */
        R unknown(Unknown<T> outcome);

        /** The result is past its retention. */
        R expired(Expired<T> outcome);
    }

    /** Calls the method for this variant. */
    default <R extends @Nullable Object> R fold(Cases<T, R> cases) {
        if (this instanceof Executed<T> o) {
            return cases.executed(o);
        } else if (this instanceof Replayed<T> o) {
            return cases.replayed(o);
        } else if (this instanceof Failed<T> o) {
            return cases.failed(o);
        } else if (this instanceof InFlight<T> o) {
            return cases.inFlight(o);
        } else if (this instanceof Mismatched<T> o) {
            return cases.mismatched(o);
        } else if (this instanceof Unknown<T> o) {
            return cases.unknown(o);
        }
        return cases.expired((Expired<T>) this);
    }

    /**
     * The value, whether the action ran now or before.
     *
     * @throws OutcomeException if there is none; it carries this outcome
     */
    default T orElseThrow() {
        if (this instanceof Executed<T> executed) {
            return executed.value();
        } else if (this instanceof Replayed<T> replayed) {
            return replayed.value();
        }
        throw new OutcomeException("There is no result: " + this, this);
    }

    /** The same outcome with its value, if any, converted. */
    @SuppressWarnings("unchecked")
    default <R> Outcome<R> map(Function<? super T, ? extends R> value) {
        if (this instanceof Executed<T> executed) {
            return new Executed<>(value.apply(executed.value()), executed.expiresAt());
        } else if (this instanceof Replayed<T> replayed) {
            return new Replayed<>(value.apply(replayed.value()), replayed.expiresAt());
        }
        // The others have no value.
        return (Outcome<R>) this;
    }
}
