package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on H2 in memory")
final class H2StepFencesTest extends StepFencesContract implements StepNeighboursChapter {
    H2StepFencesTest() {
        super(TestDatabase.H2);
    }

    @Override
    public Steps stepped() {
        return stepped;
    }
}
