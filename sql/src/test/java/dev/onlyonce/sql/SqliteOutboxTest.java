package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("The outbox on SQLite")
final class SqliteOutboxTest extends OutboxContract {
    SqliteOutboxTest() {
        super(TestDatabase.SQLITE);
    }
}
