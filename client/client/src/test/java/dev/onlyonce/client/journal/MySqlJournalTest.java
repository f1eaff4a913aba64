package dev.onlyonce.client.journal;

import dev.onlyonce.testservers.MySqlServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in MySQL")
class MySqlJournalTest extends JdbcJournalContract {
    /** One for all tests; making a database takes a while. */
    private static final String URL = MySqlServer.shared().createDatabase();

    @Override
    String url() {
        return URL;
    }
}
