package dev.onlyonce.sql.outbox;

import dev.onlyonce.Outcome;

/** What {@link Outbox#accept} came to. */
public sealed interface Accepted {

    /** The entry is new: make the business write and commit. */
    record New() implements Accepted {}

    /**
     * It is there already: answer this. {@link Outcome.InFlight} if it waits for a worker or is being delivered; never
     * {@link Outcome.Executed}.
     */
    record Existing(Outcome<byte[]> outcome) implements Accepted {}
}
