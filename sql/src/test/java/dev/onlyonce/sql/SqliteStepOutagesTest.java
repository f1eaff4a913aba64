package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Outages in the middle of stepped operations on SQLite")
final class SqliteStepOutagesTest extends StepOutagesContract {
    SqliteStepOutagesTest() {
        super(TestDatabase.SQLITE);
    }
}
