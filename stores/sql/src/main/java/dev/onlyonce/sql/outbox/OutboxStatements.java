package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.connections.SqlDatabase;

/**
 * The statements on {@code onlyonce_outbox}. Each kind has whole statements of its own, which can be pasted into a
 * console; the parts marked by comments are repeated for each id or topic, or replaced by the limit that is wanted.
 */
interface OutboxStatements {
    /** The limit in the statements, to be replaced. */
    String LIMIT = "1000 /*rows*/";

    /** Those of a kind of database. */
    static OutboxStatements of(SqlDatabase kind) {
        return switch (kind) {
            case POSTGRESQL -> new PostgresOutbox();
            case MYSQL -> new MySqlOutbox();
            case SQLITE -> new SqliteOutbox();
            case H2 -> new H2Outbox();
        };
    }

    /** A new row. It takes the time of creation from its entry, which tells the entry from a later one with the same key. */
    String insert();

    /**
     * Rows of a topic that are due, each with its order key and how many bytes its payload and its answer have: what does not fit into
     * memory is not read. They are locked where the database has row locks; those that somebody else has locked are skipped.
     */
    String due();

    /** Whole rows by their ids. */
    String rows();

    /**
     * Which of some rows are not the first in their line. They are locked, and what others have committed is seen. A row whose entry
     * has ended, or is gone, is not among them: no call is made for it, so it need not wait.
     */
    String notFirst();

    /**
     * Puts off rows that wait behind others, for as long as they have waited already, within bounds: the time, the time, the
     * shortest and the longest wait in microseconds, ids.
     */
    String waitInLine();

    /** The first row of a line. On PostgreSQL those of many lines, by arrays; null for a line without rows. */
    String firstInLine();

    /** Makes rows due now, unless a worker has them, or they wait for their next try. */
    String next();

    /** Takes rows: token, end of the lease, when a call may first have been made, ids. */
    String take();

    /**
     * Locks rows whose lease is to be renewed. A locked row is being finished or operated on: it must not
     * cost its neighbours their leases.
     */
    String renewable();

    /** Renews the lease of rows. */
    String renew();

    /** Notes that a call is about to be made for the first time after it was proven that none had an effect. */
    String sending();

    /**
     * Records a provider's answer. On PostgreSQL many at once, by arrays, returning the ids of the rows that
     * were changed.
     */
    String record();

    /** Gives a row back, due later. */
    String putOff();

    /** Removes rows that are done. */
    String delete();

    /** Dead letters after an id, without payloads and answers: a list of them might not fit into memory. */
    String listDead();

    /** The rows of a key. */
    String find();

    /**
     * Gives a dead letter all its tries again. A worker that has it keeps it: the provider's answer may be on
     * its way.
     */
    String retry();

    /** Removes a dead letter. */
    String drop();
}
