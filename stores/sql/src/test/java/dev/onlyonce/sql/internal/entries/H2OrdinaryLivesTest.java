package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Ordinary lives in H2 in memory")
final class H2OrdinaryLivesTest extends OrdinaryLivesListing {
    H2OrdinaryLivesTest() {
        super(TestDatabase.H2);
    }
}
