package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Outages in the middle of stepped operations on H2 in memory")
final class H2StepOutagesTest extends StepOutagesContract {
    H2StepOutagesTest() {
        super(TestDatabase.H2);
    }
}
