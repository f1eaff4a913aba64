package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on MySQL")
final class MySqlStepFencesTest extends StepFencesContract implements StepNeighboursChapter {
    MySqlStepFencesTest() {
        super(TestDatabase.MYSQL);
    }

    @Override
    public Steps stepped() {
        return stepped;
    }
}
