package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Ordinary lives in H2 in a file, in PostgreSQL mode")
final class H2PostgresModeOrdinaryLivesTest extends OrdinaryLivesListing {
    H2PostgresModeOrdinaryLivesTest() {
        super(TestDatabase.H2_POSTGRES_MODE);
    }
}
