package dev.onlyonce.client.journal;

import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in an application's SQLite")
class SqliteDatabaseJournalTest extends JdbcJournalContract {
    @Override
    String url() {
        return "jdbc:sqlite:" + folder.resolve("journal.db") + "?busy_timeout=20000";
    }
}
