package dev.onlyonce.client.journal;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in MariaDb")
class MariaDbJournalTest extends JdbcJournalContract {
    /** One for all tests; making a database takes a while. */
    private static final String URL = MariaDbServer.shared().createDatabase();

    @Override
    String url() {
        return URL;
    }
}
