package dev.onlyonce.sql.outbox;

import dev.onlyonce.Outcome;

/**
 * The answer of {@link Outbox#accept}.
 *
 * @param <T> the operation's result
 */
public sealed interface Accepted<T> {

    /** What to answer the client if it is not to wait; never {@link Outcome.Executed}. */
    Outcome<T> outcome();

    /** Whether the entry is new: then make the business write and commit. */
    default boolean isNew() {
        return this instanceof New;
    }

    /** The entry is new: make the business write and commit. The outcome is {@link Outcome.InFlight}: it waits for a worker. */
    record New<T>() implements Accepted<T> {
        @Override
        public Outcome<T> outcome() {
            return new Outcome.InFlight<>(true, Acceptance.RETRY_AFTER);
        }
    }

    /** It is there already: answer this. {@link Outcome.InFlight} if it waits for a worker or is being delivered. */
    record Existing<T>(Outcome<T> outcome) implements Accepted<T> {}
}
