package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on SQLite")
final class SqliteStepsTest extends StepsContract {
    SqliteStepsTest() {
        super(TestDatabase.SQLITE);
    }
}
