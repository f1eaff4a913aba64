package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Ordinary lives in MySQL")
final class MySqlOrdinaryLivesTest extends OrdinaryLivesListing {
    MySqlOrdinaryLivesTest() {
        super(TestDatabase.MYSQL);
    }
}
