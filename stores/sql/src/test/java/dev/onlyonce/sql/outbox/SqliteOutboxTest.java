package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The outbox on SQLite")
final class SqliteOutboxTest extends OutboxContract {
    SqliteOutboxTest() {
        super(TestDatabase.SQLITE);
    }
}
