package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on MariaDB")
final class MariaDbStepsTest extends StepsContract {
    MariaDbStepsTest() {
        super(TestDatabase.MARIADB);
    }
}
