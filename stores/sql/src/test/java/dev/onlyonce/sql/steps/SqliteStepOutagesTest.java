package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Outages in the middle of stepped operations on SQLite")
final class SqliteStepOutagesTest extends StepOutagesContract {
    SqliteStepOutagesTest() {
        super(TestDatabase.SQLITE);
    }
}
