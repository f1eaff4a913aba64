package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on H2 in a file, in PostgreSQL mode")
final class H2PostgresModeStepFencesTest extends StepFencesContract implements StepNeighboursChapter {
    H2PostgresModeStepFencesTest() {
        super(TestDatabase.H2_POSTGRES_MODE);
    }

    @Override
    public Steps stepped() {
        return stepped;
    }
}
