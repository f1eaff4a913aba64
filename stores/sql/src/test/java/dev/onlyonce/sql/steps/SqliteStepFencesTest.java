package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on SQLite")
final class SqliteStepFencesTest extends StepFencesContract {
    SqliteStepFencesTest() {
        super(TestDatabase.SQLITE);
    }
}
