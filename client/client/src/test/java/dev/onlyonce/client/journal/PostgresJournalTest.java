package dev.onlyonce.client.journal;

import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in Postgres")
class PostgresJournalTest extends JdbcJournalContract {
    /** One for all tests; making a database takes a while. */
    private static final String URL = PostgresServer.shared().createDatabase();

    @Override
    String url() {
        return URL;
    }
}
