package dev.onlyonce.cassandra;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What a rule says about an entry: the answer, or a change that comes first. */
sealed interface Step<A> {
    /** Nothing is to be changed. */
    record Answer<A>(A answer) implements Step<A> {}

    /**
     * A change, and the answer if it takes place.
     *
     * @param change what to write
     */
    record Attempt<A>(Change change, A answer) implements Step<A> {
        /** The record that is there if and only if the change took place; null for a change of the lease, which has none. */
        @Nullable
        UUID proof() {
            return change.records().isEmpty() ? null : change.records().get(0).id();
        }
    }
}
