package dev.onlyonce.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Life} decides about an entry and a request.
 *
 * @param <R> the kind of the answer
 */
public sealed interface Decision<R> {

    /** For the caller; if the entry changes, once that is durable. */
    R answer();

    /**
     * The entry changes: the store writes it and its audit records in one commit, unless somebody has changed the entry since it was
     * read.
     *
     * @param next the entry from now on; null if it is deleted
     * @param audit the records of the change, in their order
     * @param at when it happens, for the audit
     */
    record Change<R>(R answer, @Nullable Entry next, List<Transition> audit, Instant at) implements Decision<R> {}

    /** The entry, or its absence, stays as it is. */
    record Unchanged<R>(R answer) implements Decision<R> {}
}
