package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The outbox on H2 in a file, in PostgreSQL mode")
final class H2PostgresModeOutboxTest extends OutboxContract implements OutboxLastingLocksChapter, OutboxLocksChapter {
    H2PostgresModeOutboxTest() {
        super(TestDatabase.H2_POSTGRES_MODE);
    }
}
