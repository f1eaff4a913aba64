package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Ordinary lives in PostgreSQL")
final class PostgresOrdinaryLivesTest extends OrdinaryLivesListing {
    PostgresOrdinaryLivesTest() {
        super(TestDatabase.POSTGRES);
    }
}
