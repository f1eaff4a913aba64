package dev.onlyonce.sql.steps;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on H2 in memory")
final class H2StepsTest extends StepsContract {
    H2StepsTest() {
        super(TestDatabase.H2);
    }
}
