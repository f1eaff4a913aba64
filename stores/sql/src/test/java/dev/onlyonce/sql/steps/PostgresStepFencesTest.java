package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on PostgreSQL")
final class PostgresStepFencesTest extends StepFencesContract implements StepNeighboursChapter {
    PostgresStepFencesTest() {
        super(TestDatabase.POSTGRES);
    }

    @Override
    public Steps stepped() {
        return stepped;
    }
}
