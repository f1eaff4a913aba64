package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Ordinary lives in MariaDB")
final class MariaDbOrdinaryLivesTest extends OrdinaryLivesListing {
    MariaDbOrdinaryLivesTest() {
        super(TestDatabase.MARIADB);
    }
}
