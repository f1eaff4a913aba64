package dev.onlyonce.client.journal;

import dev.onlyonce.testservers.PostgresServer;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in Postgres")
class PostgresJournalTest extends JdbcJournalContract {
    private final String url = PostgresServer.shared().createDatabase();

    @Override
    String url() {
        return url;
    }
}
