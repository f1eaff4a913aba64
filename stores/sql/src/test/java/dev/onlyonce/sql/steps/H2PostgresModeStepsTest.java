package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on H2 in a file, in PostgreSQL mode")
final class H2PostgresModeStepsTest extends StepsContract {
    H2PostgresModeStepsTest() {
        super(TestDatabase.H2_POSTGRES_MODE);
    }
}
