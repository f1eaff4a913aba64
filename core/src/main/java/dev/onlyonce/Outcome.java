package dev.onlyonce;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a request for an operation came to. Exactly one of the variants; branch with {@link #fold}.
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

    /** Calls the function for this variant; a new variant is a compile error for every caller. */
    default <R extends @Nullable Object> R fold(
            Function<? super Executed<T>, ? extends R> executed,
            Function<? super Replayed<T>, ? extends R> replayed,
            Function<? super Failed<T>, ? extends R> failed,
            Function<? super InFlight<T>, ? extends R> inFlight,
            Function<? super Mismatched<T>, ? extends R> mismatched,
            Function<? super Unknown<T>, ? extends R> unknown,
            Function<? super Expired<T>, ? extends R> expired) {
        if (this instanceof Executed<T> o) {
            return executed.apply(o);
        } else if (this instanceof Replayed<T> o) {
            return replayed.apply(o);
        } else if (this instanceof Failed<T> o) {
            return failed.apply(o);
        } else if (this instanceof InFlight<T> o) {
            return inFlight.apply(o);
        } else if (this instanceof Mismatched<T> o) {
            return mismatched.apply(o);
        } else if (this instanceof Unknown<T> o) {
            return unknown.apply(o);
        }
        return expired.apply((Expired<T>) this);
    }

    /** The same outcome with its value, if any, converted. */
    default <R> Outcome<R> map(Function<? super T, ? extends R> value) {
        return fold(
                o -> new Executed<>(value.apply(o.value()), o.expiresAt()),
                o -> new Replayed<>(value.apply(o.value()), o.expiresAt()),
                o -> new Failed<>(o.failure(), o.expiresAt()),
                o -> new InFlight<>(o.pending(), o.retryAfter()),
                o -> new Mismatched<>(o.reason()),
                o -> new Unknown<>(o.retryAfter()),
                o -> new Expired<>());
    }
}
