package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Outages in the middle of stepped operations on H2 in a file, in PostgreSQL mode")
final class H2PostgresModeStepOutagesTest extends StepOutagesContract {
    H2PostgresModeStepOutagesTest() {
        super(TestDatabase.H2_POSTGRES_MODE);
    }
}
