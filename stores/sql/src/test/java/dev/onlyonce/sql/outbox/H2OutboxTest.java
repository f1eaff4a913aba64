package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
@DisplayName("The outbox on H2 in memory")
final class H2OutboxTest extends OutboxContract implements OutboxLastingLocksChapter, OutboxLocksChapter {
    H2OutboxTest() {
        super(TestDatabase.H2);
    }
}
