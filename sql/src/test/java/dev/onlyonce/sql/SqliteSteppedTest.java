package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Steps on SQLite")
final class SqliteSteppedTest extends SteppedContract {
    SqliteSteppedTest() {
        super(TestDatabase.SQLITE);
    }
}
