package dev.onlyonce.client.journal;

import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in SQLite")
class SqliteJournalTest extends JdbcJournalContract {
    @Override
    String url() {
        return "jdbc:sqlite:" + folder.resolve("journal.db") + "?busy_timeout=20000";
    }
}
