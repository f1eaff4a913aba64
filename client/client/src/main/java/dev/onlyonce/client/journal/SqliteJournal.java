package dev.onlyonce.client.journal;

import dev.onlyonce.client.ClientTime;
import dev.onlyonce.client.Journal;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A journal in a SQLite file, which only its owner can read. Several processes may use it at once. It needs {@code
 * org.xerial:sqlite-jdbc} on the class path. Beside the file is its write-ahead log ({@code -wal}): move, copy or delete both or
 * none, while no process uses them.
 */
public final class SqliteJournal {
    private SqliteJournal() {}

    /**
     * Opens a journal, or makes one. Answers are kept for 30 days.
     *
     * @throws dev.onlyonce.client.JournalException if the file is no journal, is damaged, or others can read it
     */
    public static Journal open(Path file) {
        return open(file, JdbcJournal.KEEP, ClientTime.system());
    }

    /**
     * Opens a journal, or makes one.
     *
     * @param keep how long answers are kept. A call with an id whose answer is forgotten gets a new key
     */
    public static Journal open(Path file, Duration keep, ClientTime time) {
        return new JdbcJournal(SqliteFile.open(file), new CallTable(JdbcDialect.SQLITE), keep, time);
    }
}
