package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Ordinary lives in SQLite")
final class SqliteOrdinaryLivesTest extends OrdinaryLivesListing {
    SqliteOrdinaryLivesTest() {
        super(TestDatabase.SQLITE);
    }
}
