package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Outages in the middle of stepped operations on PostgreSQL")
final class PostgresStepOutagesTest extends StepOutagesContract {
    PostgresStepOutagesTest() {
        super(TestDatabase.POSTGRES);
    }
}
