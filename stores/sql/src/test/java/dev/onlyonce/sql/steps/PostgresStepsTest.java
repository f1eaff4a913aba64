package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on PostgreSQL")
final class PostgresStepsTest extends StepsContract {
    PostgresStepsTest() {
        super(TestDatabase.POSTGRES);
    }
}
