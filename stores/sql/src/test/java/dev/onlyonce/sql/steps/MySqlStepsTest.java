package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on MySQL")
final class MySqlStepsTest extends StepsContract {
    MySqlStepsTest() {
        super(TestDatabase.MYSQL);
    }
}
