package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Fences around steps on PostgreSQL")
final class PostgresStepFencesTest extends StepFencesContract implements StepNeighboursChapter {
    PostgresStepFencesTest() {
        super(TestDatabase.POSTGRES);
    }

    @Override
    public Stepped stepped() {
        return stepped;
    }
}
