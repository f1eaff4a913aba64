package dev.onlyonce.client.journal;

import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in MariaDb")
class MariaDbJournalTest extends JdbcJournalContract {
    private final String url = MariaDbServer.shared().createDatabase();

    @Override
    String url() {
        return url;
    }
}
