package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on MariaDB")
final class MariaDbStepFencesTest extends StepFencesContract implements StepNeighboursChapter {
    MariaDbStepFencesTest() {
        super(TestDatabase.MARIADB);
    }

    @Override
    public Steps stepped() {
        return stepped;
    }
}
