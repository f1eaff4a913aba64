package dev.onlyonce.cassandra;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of an entry when a caller asks for something: one of the rules of {@link dev.onlyonce.store.Life}, with what Cassandra needs to
 * apply it. {@link Items} reads and writes.
 */
interface EntryRule<Q, A> {
    EntryId id(Q item);

    /** What to try without reading the entry first; empty if it must be read. The write's condition says whether that was right. */
    default Optional<Step.Attempt<A>> guess(Q item, Moment moment) {
        return Optional.empty();
    }

    /**
     * What to do about the entry.
     *
     * @param entry as it is; null if there is none
     */
    Step<A> decide(Q item, @Nullable StoredEntry entry, Moment moment);

    /**
     * Whether nobody looks again if there is no entry now. A transaction that was left half done may still make one, so it is completed
     * first.
     */
    default boolean isLastLook(Q item, Moment moment) {
        return false;
    }

    /** The answer for an item that a failure left unchanged; empty if such calls have none. */
    default Optional<A> refused(StoreException failure) {
        return Optional.empty();
    }
}
