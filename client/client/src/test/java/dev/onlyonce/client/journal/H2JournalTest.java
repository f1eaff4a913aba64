package dev.onlyonce.client.journal;

import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in H2")
class H2JournalTest extends JdbcJournalContract {
    @Override
    String url() {
        return "jdbc:h2:" + folder.resolve("journal") + ";DB_CLOSE_DELAY=5";
    }
}
