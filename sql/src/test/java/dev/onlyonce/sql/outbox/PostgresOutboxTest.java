package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The outbox on PostgreSQL")
final class PostgresOutboxTest extends OutboxContract implements OutboxLocksChapter {
    PostgresOutboxTest() {
        super(TestDatabase.POSTGRES);
    }
}
