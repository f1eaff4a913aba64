package dev.onlyonce.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where entries and their audit are kept, without any rule: what the author of a store implements. {@link TableStore} makes a store of it.
 * Any number of threads and nodes use it at once.
 *
 * <p>Every verb throws a {@link StoreException} if it fails as a whole.
 */
public interface EntryTable extends AutoCloseable {

    /**
     * What is kept for an id.
     *
     * @param entry as it was written; null if the id has none
     * @param revision how the table finds out whether somebody has written since: a number, a version, the row itself; null if there is
     *     nothing for this id
     */
    record Row(EntryId id, @Nullable Entry entry, @Nullable Object revision) {
        /** Nothing is kept for this id. */
        public static Row absent(EntryId id) {
            return new Row(id, null, null);
        }
    }

    /**
     * A change to write.
     *
     * @param row as it was read
     * @param change the next entry (null: delete it), its audit records, and when it happens
     */
    record Write(Row row, Decision.Change<?> change) {}

    /** The outcome of a write. */
    sealed interface Written {
        /** It is durable. */
        record Done() implements Written {}

        /**
         * Somebody else has written since the row was read. Nothing was changed.
         *
         * @param now the row as it is now
         */
        record Overtaken(Row now) implements Written {}

        /** This one failed; others may be done. */
        record Failed(StoreException failure) implements Written {}
    }

    /** The table's clock. All nodes must agree about it: a server's, or as exactly as a node knows it. */
    StoreTime now();

    /** Reads rows, in the order of the ids. What it shows is durable, and so is everything before it. */
    List<Row> read(List<EntryId> ids);

    /**
     * Writes each entry together with its audit records, atomically and durably, if its row is still the one that was read. The writes
     * need not be one transaction. Answers in their order. The ids are distinct.
     */
    List<Written> write(List<Write> writes);

    /**
     * The rows that are {@linkplain Due#isDue due} now, those that have been due for longest if there are more than {@code limit}. More
     * rows, and rows that are not due, do no harm.
     */
    List<Row> due(Due due, StoreTime now, int limit);

    /**
     * Entries as they were written, in the order of their ids: those behind {@code query.after()}, at most {@code query.limit()}. It may
     * leave out entries that do not {@linkplain EntryQuery#matches match}, and results, which may be large.
     */
    List<Entry> list(EntryQuery query);

    /** As {@link Store#history}. */
    List<AuditRecord> history(EntryId id);

    /** As {@link Store#audit}. */
    List<AuditRecord> audit(AuditQuery query);

    /** Deletes audit records that were made until then, oldest first, at most {@code limit}; says how many. */
    int purgeAudit(Instant until, int limit);

    /** Closes the resources that the table has opened itself. */
    @Override
    void close();
}
