package dev.onlyonce.redis;

import dev.onlyonce.redis.Swaps.Mode;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Something that is done to entries.
 *
 * @param <Q> asks for it
 * @param <A> the answer
 */
interface Verb<Q, A> {
    EntryId id(Q request);

    /** The rule, one of those in {@link dev.onlyonce.store.Life}. */
    Decision<A> decide(@Nullable Entry stored, Q request, StoreTime now);

    /** What is stored if all is as usual. Without a guess, the entry is read first. */
    default Optional<Known> guess(Q request) {
        return Optional.empty();
    }

    /** How much of an entry is read. */
    default Mode mode() {
        return Mode.CHANGE;
    }

    /** The answer to an item that was not changed although others were; empty if the verb has none. */
    Optional<A> refused(StoreException failure);

    /** The answer with its times moved by the delay between decision and change. */
    default A later(A answer, Duration by) {
        return answer;
    }

    /** The answer if the result of the entry was not read, because it is large. */
    default A withoutResult(A answer) {
        return answer;
    }

    /** Corrects the place in the indexes of an entry that stays as it is. */
    default Optional<Swap> repair(Q request, Known known) {
        return Optional.empty();
    }

    /** After the change of an entry; the open claim that it is, if it is one. */
    default void changed(Q request, Optional<StoredEntry> claim) {}

    /**
     * What is stored, as far as is known.
     *
     * @param entry null for nothing
     * @param at when it was read, or made
     */
    record Known(@Nullable StoredEntry entry, Instant at) {
        /** Nothing. The script counts all times from its own. */
        static final Known ABSENT = new Known(null, Instant.EPOCH);

        @Nullable
        Entry stored() {
            return entry == null ? null : entry.entry();
        }

        /** How the stored bytes begin. */
        byte[] revision() {
            return entry == null ? new byte[0] : entry.revision();
        }
    }
}
