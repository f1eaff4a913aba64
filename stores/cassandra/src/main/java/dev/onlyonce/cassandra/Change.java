package dev.onlyonce.cassandra;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Tokens;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One conditional write, and what belongs to it.
 *
 * @param condition what must still be so
 * @param write the entry after it
 * @param records what the audit says of it
 * @param index the rows that lead to the entry before it and after it
 */
record Change(EntryId id, Condition condition, Write write, List<Audited> records, Index index) {

    /** What must be so for the write to take place. */
    sealed interface Condition {
        /** There is no entry. */
        record Absent() implements Condition {}

        /** It is processing with this token, and the same attempt of the same entry: a claim may be repeated after an eviction or a sweep. */
        record Held(UUID token, UUID life, int attempt) implements Condition {
            static Held by(StoredEntry entry, UUID token) {
                return new Held(token, entry.life().mark(), entry.hold().attempt());
            }
        }

        /** Nothing has changed since this change. */
        record Unchanged(UUID change) implements Condition {}
    }

    /** What is written. */
    sealed interface Write {
        /** The whole entry. */
        record Entry(StoredEntry entry, Ttl ttl) implements Write {}

        /** Its lease alone; leaves no audit record. */
        record Lease(StoredEntry entry) implements Write {}

        /** Nothing remains. */
        record Delete() implements Write {}
    }

    /**
     * For how many seconds Cassandra keeps cells; 0 for until they are deleted.
     *
     * @param result of the result; the same or less
     */
    record Ttl(int entry, int result) {
        static final Ttl NONE = new Ttl(0, 0);
    }

    /** An audit record. Its id proves that the change took place. */
    record Audited(UUID id, @Nullable State from, @Nullable State to, Who who, long at) {
        /** Proves a change that is not audited: Cassandra removes it soon, and nobody lists it. */
        static Audited proof() {
            return new Audited(Tokens.next(), null, null, new Who("", 0, "", ""), 0);
        }

        boolean isProofOnly() {
            return from == null && to == null;
        }
    }

    /** Whose change it was, and of what. */
    record Who(String operation, int attempt, String who, String why) {}

    /**
     * Index rows.
     *
     * @param before written before the change
     * @param after deleted after it
     */
    record Index(List<IndexRow> before, List<IndexRow> after) {
        static final Index NONE = new Index(List.of(), List.of());
    }

    /** The entry after the change; null if nothing remains. */
    @Nullable
    StoredEntry entry() {
        if (write instanceof Write.Entry whole) {
            return whole.entry();
        }
        return write instanceof Write.Lease lease ? lease.entry() : null;
    }
}
